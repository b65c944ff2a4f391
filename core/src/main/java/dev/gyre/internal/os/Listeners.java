package dev.gyre.internal.os;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Who listens to which of the kernel's watches.
///
/// Loop thread only.
final class Listeners {
    private final Map<Integer, List<DirectoryListener>> byWatch = new HashMap<>();

    void add(int watch, DirectoryListener listener) {
        byWatch.computeIfAbsent(watch, key -> new ArrayList<>(1)).add(listener);
    }

    /// This one listens no more.
    ///
    /// @return whether it was the last one
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

    /// A copy, for telling them may add and remove some. Empty for a watch that was given up while
    /// its events were on their way; the kernel does not use its number again before it has used
    /// all others.
    List<DirectoryListener> of(int watch) {
        List<DirectoryListener> found = byWatch.get(watch);
        return found == null ? List.of() : List.copyOf(found);
    }

    /// The one that belongs to the owner.
    @Nullable DirectoryListener of(int watch, OpenFileWatch owner) {
        List<DirectoryListener> found = byWatch.get(watch);
        if (found != null) {
            for (DirectoryListener listener : found) {
                if (listener.watch() == owner) {
                    return listener;
                }
            }
        }
        return null;
    }
}
