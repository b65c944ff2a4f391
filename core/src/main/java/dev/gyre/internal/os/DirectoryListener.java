package dev.gyre.internal.os;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Interprets the events of one directory for one watch. Calls no user code.
interface DirectoryListener {
    /// Returns the owner: a watch has at most one listener per directory.
    OpenFileWatch watch();

    /// Handles a change of an entry.
    ///
    /// @param mask IN_CREATE, IN_DELETE, IN_MODIFY or IN_CLOSE_WRITE, with IN_ISDIR
    void onEntry(int mask, Path name);

    /// An entry was moved within the watch.
    ///
    /// @param target the listener of the same watch in the target directory
    void onMoved(Path name, DirectoryListener target, Path newName, boolean isDirectory);

    void onMovedAway(Path name);

    void onMovedIn(Path name, boolean isDirectory);

    /// An entry left right after another one arrived under its name. If the two were exchanged,
    /// which the kernel reports as two moves, one of them has that name now.
    void onPossibleExchange(Path name);

    /// Handles a change of the directory itself.
    ///
    /// @param mask IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT or IN_IGNORED
    void onSelf(int mask);

    /// The listeners of each kernel watch. Loop thread only.
    final class Registry {
        private final Map<Integer, List<DirectoryListener>> byWatch = new HashMap<>();

        void add(int watch, DirectoryListener listener) {
            byWatch.computeIfAbsent(watch, key -> new ArrayList<>(1)).add(listener);
        }

        /// Returns whether it was the last one of the watch.
        boolean remove(int watch, DirectoryListener listener) {
            List<DirectoryListener> found = byWatch.get(watch);
            if (found != null && found.remove(listener) && found.isEmpty()) {
                byWatch.remove(watch);
                return true;
            }
            return false;
        }

        void removeAll(int watch) {
            byWatch.remove(watch);
        }

        void clear() {
            byWatch.clear();
        }

        boolean hasAny(int watch) {
            return byWatch.containsKey(watch);
        }

        /// Returns a copy, because listeners may add and remove others. Empty for a watch that was
        /// removed while its events were queued; the kernel reuses its number only after all
        /// others.
        List<DirectoryListener> of(int watch) {
            return List.copyOf(byWatch.getOrDefault(watch, List.of()));
        }

        @Nullable DirectoryListener of(int watch, OpenFileWatch owner) {
            for (DirectoryListener listener : byWatch.getOrDefault(watch, List.of())) {
                if (listener.watch() == owner) {
                    return listener;
                }
            }
            return null;
        }
    }
}
