package dev.gyre.internal.os;

import static dev.gyre.internal.sys.Linux.IN_CLOSE_WRITE;
import static dev.gyre.internal.sys.Linux.IN_CREATE;
import static dev.gyre.internal.sys.Linux.IN_DELETE;
import static dev.gyre.internal.sys.Linux.IN_DELETE_SELF;
import static dev.gyre.internal.sys.Linux.IN_EXCL_UNLINK;
import static dev.gyre.internal.sys.Linux.IN_IGNORED;
import static dev.gyre.internal.sys.Linux.IN_ISDIR;
import static dev.gyre.internal.sys.Linux.IN_MODIFY;
import static dev.gyre.internal.sys.Linux.IN_MOVED_FROM;
import static dev.gyre.internal.sys.Linux.IN_MOVED_TO;
import static dev.gyre.internal.sys.Linux.IN_MOVE_SELF;
import static dev.gyre.internal.sys.Linux.IN_ONLYDIR;
import static dev.gyre.internal.sys.Linux.IN_UNMOUNT;

import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.os.InotifyReader.MoveHalf;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.io.Descriptor;
import dev.gyre.os.FileChange;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/// The inotify instance that all watches of a loop share: opened for the first of them, closed with
/// the last.
///
/// Only directories are watched, all for the same events, because the kernel has one watch per
/// directory regardless of the number of listeners.
///
/// Loop thread only.
final class InotifyInstance implements AutoCloseable, InotifyReader.Sink {
    static final int UNWATCHED = -1;

    /// How long the first half of a move waits for the second.
    static final Duration MOVE_TIMEOUT = Duration.ofMillis(10);

    /// The number of verifications before an OVERFLOW is reported instead.
    private static final int MAX_VERIFICATIONS = 4;

    private static final int SELF_EVENTS = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

    /// IN_EXCL_UNLINK omits writes to a deleted file.
    private static final int MASK =
            IN_CREATE
                    | IN_DELETE
                    | IN_MODIFY
                    | IN_CLOSE_WRITE
                    | IN_MOVED_FROM
                    | IN_MOVED_TO
                    | IN_DELETE_SELF
                    | IN_MOVE_SELF
                    | IN_EXCL_UNLINK
                    | IN_ONLYDIR;

    /// Owns an instance that [#of] must no longer find.
    private record Detached(InotifyInstance inotify) implements AutoCloseable {
        @Override
        public void close() {
            inotify.close();
        }
    }

    final Loop loop;
    private final FileCalls calls;
    private final Descriptor descriptor;
    private final Watcher watcher;
    private final InotifyReader events;
    final ChangeDispatch dispatch;
    private final DirectoryListener.Registry listeners = new DirectoryListener.Registry();
    private final Set<OpenFileWatch> watches = new LinkedHashSet<>();

    /// Directories scanned so recently that older events may still be unread.
    final Set<DirectoryNode> scanned = new LinkedHashSet<>();

    private final RenameDetector renames = new RenameDetector(listeners);

    /// Closed by the loop when it terminates.
    private AutoCloseable ownership = this;

    private @Nullable Timer moveTimer;
    private int referenced;
    private boolean closed;

    /// The number of the current or latest read.
    long reads;

    /// The number of known creations, deletions and moves of directories.
    long directoryChanges;

    private InotifyInstance(Loop loop, FileCalls calls, Descriptor descriptor) {
        this.loop = loop;
        this.calls = calls;
        this.descriptor = descriptor;
        events = new InotifyReader(descriptor, this);
        dispatch = new ChangeDispatch(loop);
        watcher = loop.watch(descriptor, WatchSpec.reading(ready -> readAndVerify()));
        loop.own(ownership);
    }

    /// Opens the instance of the loop if absent.
    static InotifyInstance of(
            Loop loop, Supplier<? extends FileCalls> files, Supplier<? extends PollCalls> kernels) {
        InotifyInstance present = loop.owned(InotifyInstance.class);
        if (present != null) {
            return present;
        }
        FileCalls calls = files.get();
        FdReaper.reclaim(); // Descriptors may have run out.
        int opened = calls.inotifyInit1(Linux.IN_NONBLOCK | Linux.IN_CLOEXEC);
        int fd = Errno.require("inotify_init1", opened, SystemCallException.NO_FD);
        Descriptor descriptor = OpenDescriptor.fresh(kernels, fd, true);
        try {
            return new InotifyInstance(loop, calls, descriptor);
        } catch (Throwable e) {
            descriptor.close();
            throw e;
        }
    }

    void add(OpenFileWatch watch) {
        watches.add(watch);
        changeReferenced(1);
    }

    void remove(OpenFileWatch watch, boolean wasReferenced) {
        if (watches.remove(watch)) {
            if (wasReferenced && !closed) {
                changeReferenced(-1);
            }
            closeIfUnused();
        }
    }

    void closeIfUnused() {
        if (watches.isEmpty() && !closed) {
            loop.disown(ownership);
            close();
        }
    }

    void changeReferenced(int by) {
        referenced += by;
        if (referenced == 0) {
            watcher.unreference();
        } else {
            watcher.reference();
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        descriptor.close(); // The kernel removes all its watches.
        Timer waiting = moveTimer;
        if (waiting != null) {
            waiting.cancel();
        }
        dispatch.clear();
        listeners.clear();
        scanned.clear();
        List.copyOf(watches).forEach(OpenFileWatch::terminate);
    }

    /// Adds a kernel watch. The caller must listen to it or remove it.
    ///
    /// @param flags IN_DONT_FOLLOW or none
    /// @return the kernel's watch, or `-errno`
    int watch(Path directory, int flags) {
        return calls.inotifyAddWatch(descriptor.fd(), FileNames.bytes(directory), MASK | flags);
    }

    /// @throws SystemCallException if the kernel refuses; names the directory
    int requireWatch(Path directory) {
        int result = watch(directory, 0);
        if (result < 0) {
            throw refusal(directory, -result);
        }
        return result;
    }

    SystemCallException refusal(Path directory, int errno) {
        String shown = directory.toString().isEmpty() ? "." : directory.toString();
        return new SystemCallException("inotify_add_watch(" + shown + ")", errno, descriptor.fd());
    }

    void listen(int watch, DirectoryListener listener) {
        listeners.add(watch, listener);
    }

    void unlisten(int watch, DirectoryListener listener) {
        if (listeners.remove(watch, listener)) {
            renames.forget(watch);
            removeWatch(watch);
        }
    }

    private void removeWatch(int watch) {
        // Refused only if the directory, and its watch, no longer exist.
        int _ = calls.inotifyRmWatch(descriptor.fd(), watch);
    }

    /// Identifies the directory at a path, without leaving a new watch behind.
    ///
    /// @return the kernel's watch, or `-errno`
    int probe(Path directory, int flags) {
        int found = watch(directory, flags);
        if (found >= 0 && !listeners.hasAny(found)) {
            removeWatch(found);
        }
        return found;
    }

    boolean isSameDirectory(Path directory, int watch) {
        int found = probe(directory, 0);
        // Other errors do not mean that it no longer exists.
        return found < 0 ? !isMissing(-found) : found == watch;
    }

    static boolean isMissing(int errno) {
        return errno == Errno.ENOENT || errno == Errno.ENOTDIR || errno == Errno.ELOOP;
    }

    /// Reads events and verifies the watches, repeatedly while changes interfere or a state is
    /// wrong.
    void readAndVerify() {
        int attempts = dispatch.isHalfFull() ? 0 : MAX_VERIFICATIONS;
        while (attempts > 0 && read() && !verify(attempts == 1)) {
            attempts--;
        }
    }

    /// Returns whether all events up to now are processed.
    private boolean read() {
        reads++;
        boolean drained;
        try {
            drained = events.read();
        } catch (SystemCallException | IllegalStateException e) {
            onReadFailed();
            throw e;
        }
        if (drained && events.pendingMove() == null) {
            // All events from before these scans have been read.
            scanned.removeIf(node -> node.expireReported(reads));
        }
        updateMoveTimer();
        return drained && events.pendingMove() == null;
    }

    private boolean verify(boolean isLastAttempt) {
        boolean settled = true;
        for (OpenFileWatch watch : List.copyOf(watches)) {
            settled &= watch.verify(isLastAttempt);
        }
        return settled;
    }

    /// The instance can no longer be read. Its watches end with their last report, and the next
    /// watch opens another instance.
    private void onReadFailed() {
        List.copyOf(watches).forEach(watch -> watch.endWith(FileChange.Kind.OVERFLOW));
        loop.unwatch(descriptor); // Or it would stay ready forever.
        loop.disown(ownership);
        ownership = new Detached(this);
        loop.own(ownership);
    }

    private void updateMoveTimer() {
        Timer waiting = moveTimer;
        if (events.pendingMove() == null) {
            if (waiting != null) {
                waiting.cancel();
            }
        } else if (waiting == null) {
            moveTimer = loop.after(MOVE_TIMEOUT, timer -> onMoveTimeout()).unreference();
        } else {
            waiting.reschedule(MOVE_TIMEOUT);
        }
    }

    /// Reads once more, because the loop may have been busy during the whole timeout.
    private void onMoveTimeout() {
        MoveHalf half = events.pendingMove();
        boolean isDrained = read();
        if (half != null && half.equals(events.pendingMove())) {
            events.expirePendingMove();
            updateMoveTimer();
            isDrained = true;
        }
        if (isDrained && !verify(false)) {
            readAndVerify();
        }
    }

    @Override
    public void onEntry(int watch, int mask, Path name) {
        if ((mask & (IN_CREATE | IN_DELETE)) != 0) {
            renames.forget(watch);
            directoryChanges += (mask & IN_ISDIR) != 0 ? 1 : 0;
        }
        listeners.of(watch).forEach(listener -> listener.onEntry(mask, name));
    }

    @Override
    public void onMoved(MoveHalf from, MoveHalf to) {
        directoryChanges += to.isDirectory() ? 1 : 0;
        for (DirectoryListener listener : listeners.of(from.watch())) {
            DirectoryListener target = listeners.of(to.watch(), listener.watch());
            if (target == null) {
                listener.onMovedAway(from.name());
            } else {
                listener.onMoved(from.name(), target, to.name(), to.isDirectory());
            }
        }
        for (DirectoryListener listener : listeners.of(to.watch())) {
            if (listeners.of(from.watch(), listener.watch()) == null) {
                listener.onMovedIn(to.name(), to.isDirectory());
            }
        }
        checkExchange(from, to);
        renames.onArrived(to, from);
    }

    @Override
    public void onMovedAway(MoveHalf from) {
        directoryChanges += from.isDirectory() ? 1 : 0;
        listeners.of(from.watch()).forEach(listener -> listener.onMovedAway(from.name()));
        checkExchange(from, null);
    }

    private void checkExchange(MoveHalf from, @Nullable MoveHalf target) {
        if (renames.isPossibleExchange(from, target)) {
            listeners
                    .of(from.watch())
                    .forEach(listener -> listener.onPossibleExchange(from.name()));
        }
    }

    @Override
    public void onMovedIn(MoveHalf to) {
        directoryChanges += to.isDirectory() ? 1 : 0;
        for (DirectoryListener listener : listeners.of(to.watch())) {
            listener.onMovedIn(to.name(), to.isDirectory());
        }
        renames.onArrived(to, null);
    }

    @Override
    public void onSelf(int watch, int mask) {
        if ((mask & SELF_EVENTS) == 0) {
            return;
        }
        List<DirectoryListener> notified = listeners.of(watch);
        if ((mask & IN_IGNORED) != 0) {
            listeners.removeAll(watch); // The kernel has dropped it.
            renames.forget(watch);
        }
        directoryChanges += (mask & IN_UNMOUNT) != 0 ? 1 : 0;
        notified.forEach(listener -> listener.onSelf(mask));
    }

    @Override
    public void onOverflow() {
        scanned.removeIf(node -> node.expireReported(Long.MAX_VALUE));
        List.copyOf(watches).forEach(OpenFileWatch::recover);
    }
}
