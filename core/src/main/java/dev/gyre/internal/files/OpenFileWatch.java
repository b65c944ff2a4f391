package dev.gyre.internal.files;

import dev.gyre.EventLoop;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Inotify;
import dev.gyre.internal.sys.LinuxInotify;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.os.FileChange;
import dev.gyre.os.FileChange.Kind;
import dev.gyre.os.FileWatch;

import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// A watch as its user sees it, and the door through which its [Scope] reports.
public final class OpenFileWatch implements FileWatch {
    private final Loop loop;
    private final Path path;
    private final Consumer<? super FileChange> callback;
    private final InotifyInstance notifications;
    private final Scope scope;

    // Loop thread only.
    private boolean open = true;
    private boolean referenced = true;

    /// Whether the last change is on its way.
    private boolean over;

    /// Whether an OVERFLOW is on its way for want of room, in which everything else is included.
    private boolean overflowing;

    /// Whether events may still come of what the user saw when he looked after an OVERFLOW.
    private boolean hasLooked;

    private OpenFileWatch(
            InotifyInstance notifications,
            Path path,
            Consumer<? super FileChange> callback,
            Function<OpenFileWatch, Scope> scope) {
        this.loop = notifications.loop();
        this.path = path;
        this.callback = callback;
        this.notifications = notifications;
        this.scope = scope.apply(this);
    }

    public static FileWatch on(EventLoop loop, Path path, Consumer<? super FileChange> callback) {
        return on(loop, path, callback, LinuxInotify::new, LinuxPollSyscalls::ofThread);
    }

    static FileWatch on(
            EventLoop loop,
            Path path,
            Consumer<? super FileChange> callback,
            Supplier<? extends Inotify> seam,
            Supplier<? extends PollSyscalls> kernels) {
        Loop owner = check("FileWatch.on", loop, path, callback);
        Path parent = path.getParent();
        Path directory = parent == null ? Path.of("") : parent;
        Path name = path.getFileName();
        boolean isName = name != null && !Files.isDirectory(path);
        return open(
                owner,
                seam,
                kernels,
                shared ->
                        new OpenFileWatch(
                                shared,
                                path,
                                callback,
                                watch ->
                                        isName
                                                ? new DirectoryScope(watch, shared, directory, name)
                                                : new DirectoryScope(watch, shared, path, null)));
    }

    public static FileWatch tree(
            EventLoop loop, Path directory, Consumer<? super FileChange> callback) {
        return tree(loop, directory, callback, LinuxInotify::new, LinuxPollSyscalls::ofThread);
    }

    static FileWatch tree(
            EventLoop loop,
            Path directory,
            Consumer<? super FileChange> callback,
            Supplier<? extends Inotify> seam,
            Supplier<? extends PollSyscalls> kernels) {
        Loop owner = check("FileWatch.tree", loop, directory, callback);
        OpenFileWatch opened =
                open(
                        owner,
                        seam,
                        kernels,
                        shared ->
                                new OpenFileWatch(
                                        shared,
                                        directory,
                                        callback,
                                        watch -> new Tree(watch, shared)));
        // What happened while we looked is told apart from what happens from now on.
        opened.notifications.catchUp();
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
            Loop loop,
            Supplier<? extends Inotify> seam,
            Supplier<? extends PollSyscalls> kernels,
            Function<InotifyInstance, OpenFileWatch> making) {
        InotifyInstance shared = InotifyInstance.of(loop, seam, kernels);
        try {
            OpenFileWatch watch = making.apply(shared);
            try {
                watch.scope.open();
            } catch (Throwable e) {
                watch.open = false; // For what it had to tell already.
                watch.scope.release();
                throw e;
            }
            shared.add(watch);
            return watch;
        } catch (Throwable e) {
            shared.closeIfUnused();
            throw e;
        }
    }

    // ------------------------------------------------------------------ what users call

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
            notifications.changeReferenced(wanted ? 1 : -1);
        }
        referenced = wanted;
        return this;
    }

    @Override
    public void close() {
        loop.requireConfinedWithStack("close");
        end();
    }

    @Override
    public String toString() {
        return "FileWatch[" + path + (open ? "]" : ", closed]");
    }

    // ------------------------------------------------------------------ for the scope

    void tell(Kind kind, Path changed) {
        tell(new FileChange(kind, changed));
    }

    void tellMoved(Path from, Path to) {
        tell(new FileChange(Kind.MOVED, to, from));
    }

    private void tell(FileChange change) {
        if (!isListening() || over || overflowing) {
            return;
        }
        if (notifications.deliveries().hasRoom()) {
            notifications.deliveries().add(this, change, false);
        } else {
            tellOverflow();
        }
    }

    private void tellOverflow() {
        if (!overflowing) {
            overflowing = true;
            notifications.deliveries().add(this, new FileChange(Kind.OVERFLOW, path), false);
        }
    }

    /// What is watched is no longer there.
    void isGone() {
        endWith(Kind.DELETED);
    }

    /// Nothing more can be learnt.
    void isLost() {
        endWith(Kind.OVERFLOW);
    }

    private void endWith(Kind kind) {
        if (isListening() && !over) {
            over = true;
            scope.release();
            notifications.deliveries().add(this, new FileChange(kind, path), true);
        }
    }

    /// Events were lost.
    void recover() {
        if (!over) {
            tellOverflow();
            if (!scope.recover()) {
                isGone();
            }
        }
    }

    /// Whether a move may be one that the user has seen already. Moving what he knows once more
    /// would lead him astray; to him it is better told as an end and a beginning.
    boolean mayKnowMoves() {
        return hasLooked;
    }

    // ------------------------------------------------------------------ for Notifications

    /// All events that there were have been understood.
    ///
    /// @return whether they led to what is there
    boolean settle(boolean isLastLook) {
        hasLooked = false;
        return over || scope.settle(isLastLook);
    }

    /// Whether it still wants to be told. The same as [#isOpen()], for those on the loop thread.
    boolean isListening() {
        return open;
    }

    void deliver(FileChange change, boolean isLast) {
        if (change.kind() == Kind.OVERFLOW) {
            hasLooked = true;
            overflowing &= !change.path().equals(path);
        }
        if (isLast) {
            end();
        }
        callback.accept(change);
    }

    void end() {
        if (open) {
            open = false;
            over = true;
            scope.release();
            notifications.remove(this, referenced);
        }
    }
}
