package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.os.FileChange;
import dev.gyre.os.FileChange.Kind;
import dev.gyre.os.FileWatch;

import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// A file watch: the user's handle, and the channel through which its [Scope] reports.
public final class OpenFileWatch implements FileWatch {
    /// The directories of a watch.
    sealed interface Scope permits DirectoryScope, DirectoryTree {
        /// Starts watching.
        ///
        /// @throws RuntimeException if a directory cannot be watched; the caller then calls
        ///     [#release]
        void open();

        /// Stops to watch. Idempotent.
        void release();

        /// Completes the watched set after events were lost.
        ///
        /// @return whether the target still exists
        boolean recover();

        /// Compares the state with the file system, once all events have been processed.
        ///
        /// @param isLastAttempt whether a difference counts even if a recent event may explain it
        /// @return whether the state is confirmed; if not, another read is needed
        boolean verify(boolean isLastAttempt);
    }

    private final Loop loop;
    private final Path path;
    private final Consumer<? super FileChange> callback;
    private final InotifyInstance inotify;
    private final Scope scope;

    // Loop thread only.
    boolean open = true;
    private boolean referenced = true;

    /// Whether the last change is queued.
    private boolean ending;

    /// Whether an OVERFLOW is queued because the queue was full. It covers all further changes.
    private boolean overflowing;

    /// Whether the user may have rescanned after an OVERFLOW while older events are still unread.
    /// Applying a move again would be wrong then, so it is reported as a deletion and a creation.
    boolean mayHaveRescanned;

    private OpenFileWatch(
            InotifyInstance inotify,
            Path path,
            Consumer<? super FileChange> callback,
            BiFunction<OpenFileWatch, InotifyInstance, Scope> scope) {
        this.loop = inotify.loop;
        this.path = path;
        this.callback = callback;
        this.inotify = inotify;
        this.scope = scope.apply(this, inotify);
    }

    public static FileWatch on(EventLoop loop, Path path, Consumer<? super FileChange> callback) {
        return on(loop, path, callback, LinuxFileCalls::new, LinuxPollCalls::ofThread);
    }

    static FileWatch on(
            EventLoop loop,
            Path path,
            Consumer<? super FileChange> callback,
            Supplier<? extends FileCalls> files,
            Supplier<? extends PollCalls> kernels) {
        Loop owner = check("FileWatch.on", loop, path, callback);
        Path parent = path.getParent();
        Path directory = parent == null ? Path.of("") : parent;
        Path name = path.getFileName();
        boolean isEntry = name != null && !Files.isDirectory(path);
        return open(
                InotifyInstance.of(owner, files, kernels),
                path,
                callback,
                (watch, shared) ->
                        isEntry
                                ? new DirectoryScope(watch, shared, directory, name)
                                : new DirectoryScope(watch, shared, path, null));
    }

    public static FileWatch tree(
            EventLoop loop, Path directory, Consumer<? super FileChange> callback) {
        return tree(loop, directory, callback, LinuxFileCalls::new, LinuxPollCalls::ofThread);
    }

    static FileWatch tree(
            EventLoop loop,
            Path directory,
            Consumer<? super FileChange> callback,
            Supplier<? extends FileCalls> files,
            Supplier<? extends PollCalls> kernels) {
        Loop owner = check("FileWatch.tree", loop, directory, callback);
        OpenFileWatch opened =
                open(
                        InotifyInstance.of(owner, files, kernels),
                        directory,
                        callback,
                        DirectoryTree::new);
        // Separates events during the scan from those that follow.
        opened.inotify.readAndVerify();
        return opened;
    }

    private static Loop check(
            String method, EventLoop loop, Path path, Consumer<? super FileChange> callback) {
        Objects.requireNonNull(loop, "loop");
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(callback, "callback");
        if (!path.getFileSystem().equals(FileSystems.getDefault())) {
            throw new IllegalArgumentException(
                    "only the default file system can be watched, not that of " + path.toUri());
        }
        Loop owner = (Loop) loop;
        owner.requireOpenWithStack(method);
        return owner;
    }

    private static OpenFileWatch open(
            InotifyInstance inotify,
            Path path,
            Consumer<? super FileChange> callback,
            BiFunction<OpenFileWatch, InotifyInstance, Scope> scope) {
        try {
            OpenFileWatch watch = new OpenFileWatch(inotify, path, callback, scope);
            try {
                watch.scope.open();
            } catch (Throwable e) {
                watch.open = false; // Drops changes that are queued already.
                watch.scope.release();
                throw e;
            }
            inotify.add(watch);
            return watch;
        } catch (Throwable e) {
            inotify.closeIfUnused();
            throw e;
        }
    }

    @Override
    public Path path() {
        return path;
    }

    @Override
    public boolean isOpen() {
        loop.requireConfinedWithStack("isOpen");
        return open;
    }

    @Override
    public FileWatch unreference() {
        return setReferenced("unreference", false);
    }

    @Override
    public FileWatch reference() {
        return setReferenced("reference", true);
    }

    private FileWatch setReferenced(String method, boolean wanted) {
        loop.requireConfinedWithStack(method);
        if (open && referenced != wanted) {
            inotify.changeReferenced(wanted ? 1 : -1);
        }
        referenced = wanted;
        return this;
    }

    @Override
    public void close() {
        loop.requireConfinedWithStack("close");
        terminate();
    }

    @Override
    public String toString() {
        return "FileWatch[" + path + (open ? "]" : ", closed]");
    }

    void report(Kind kind, Path changed) {
        report(new FileChange(kind, changed));
    }

    void reportMoved(Path from, Path to) {
        report(new FileChange(Kind.MOVED, to, from));
    }

    private void report(FileChange change) {
        if (!open || ending || overflowing) {
            return;
        }
        if (inotify.dispatch.hasRoom()) {
            inotify.dispatch.add(this, change, false);
        } else {
            reportOverflow();
        }
    }

    private void reportOverflow() {
        if (!overflowing) {
            overflowing = true;
            inotify.dispatch.add(this, new FileChange(Kind.OVERFLOW, path), false);
        }
    }

    /// Reports a last change: DELETED for a removed target, OVERFLOW if no event can be read.
    void endWith(Kind kind) {
        if (open && !ending) {
            ending = true;
            scope.release();
            inotify.dispatch.add(this, new FileChange(kind, path), true);
        }
    }

    /// Events were lost.
    void recover() {
        if (!ending) {
            reportOverflow();
            if (!scope.recover()) {
                endWith(Kind.DELETED);
            }
        }
    }

    boolean verify(boolean isLastAttempt) {
        mayHaveRescanned = false;
        return ending || scope.verify(isLastAttempt);
    }

    void deliver(FileChange change, boolean isLast) {
        if (change.kind() == Kind.OVERFLOW) {
            mayHaveRescanned = true;
            overflowing &= !change.path().equals(path);
        }
        if (isLast) {
            terminate();
        }
        callback.accept(change);
    }

    void terminate() {
        if (open) {
            open = false;
            ending = true;
            scope.release();
            inotify.remove(this, referenced);
        }
    }
}
