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
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Inotify;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/// The inotify instance that all watches of a loop share: opened for the first of them, closed
/// with the last.
///
/// Only directories are watched, all for the same events, because for the kernel a directory is
/// one watch however many of ours are interested in it.
///
/// Loop thread only.
final class InotifyInstance implements AutoCloseable, InotifyReader.Sink {
    static final int UNWATCHED = -1;

    /// How long half a move waits for the other half.
    static final Duration MOVE_TIMEOUT = Duration.ofMillis(10);

    /// How often the tree is looked at before we rather say that we do not know.
    private static final int MAX_VERIFICATIONS = 4;

    private static final int SELF_EVENTS = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

    /// IN_EXCL_UNLINK: what is written to a file that is deleted already is of no interest.
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

    /// One that [#of] does not find any more.
    private record Lost(InotifyInstance notifications) implements AutoCloseable {
        @Override
        public void close() {
            notifications.close();
        }
    }

    private final Loop loop;
    private final Inotify calls;
    private final Descriptor descriptor;
    private final Watcher watcher;
    private final InotifyReader events;
    private final ChangeDispatch dispatch;
    private final Listeners listeners = new Listeners();
    private final Set<OpenFileWatch> watches = new LinkedHashSet<>();

    /// Those that were looked at so lately that events from before may still come.
    private final Set<DirectoryNode> scanned = new LinkedHashSet<>();

    private final RenameDetector renames = new RenameDetector(listeners);

    /// What the loop closes when it ends.
    private AutoCloseable ownership = this;

    private @Nullable Timer moveTimer;
    private int referenced;
    private long reads;
    private long directoryChanges;
    private boolean closed;

    private InotifyInstance(Loop loop, Inotify inotify, Descriptor descriptor) {
        this.loop = loop;
        this.calls = inotify;
        this.descriptor = descriptor;
        events = new InotifyReader(descriptor, this);
        dispatch = new ChangeDispatch(loop);
        watcher = loop.watch(descriptor, WatchSpec.reading(ready -> readAndVerify()));
        loop.own(ownership);
    }

    /// The loop's own, opened if there is none yet.
    ///
    /// @throws SystemCallException if the kernel refuses
    static InotifyInstance of(
            Loop loop, Supplier<? extends Inotify> seam, Supplier<? extends PollSyscalls> kernels) {
        InotifyInstance present = loop.owned(InotifyInstance.class);
        if (present != null) {
            return present;
        }
        Inotify inotify = seam.get();
        FdReaper.reclaim(); // Numbers may have run out for want of a look.
        int fd = inotify.init1(Linux.IN_NONBLOCK | Linux.IN_CLOEXEC);
        if (fd < 0) {
            throw new SystemCallException("inotify_init1", -fd, SystemCallException.NO_FD);
        }
        Descriptor descriptor = OpenDescriptor.fresh(kernels, fd, true);
        try {
            return new InotifyInstance(loop, inotify, descriptor);
        } catch (Throwable e) {
            descriptor.close();
            throw e;
        }
    }

    Loop loop() {
        return loop;
    }

    ChangeDispatch dispatch() {
        return dispatch;
    }

    // ------------------------------------------------------------------ who watches

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

    /// Ends everything. By the loop when it ends, too.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        descriptor.close(); // The kernel forgets all that was watched.
        Timer waiting = moveTimer;
        if (waiting != null) {
            waiting.cancel();
        }
        dispatch.clear();
        listeners.clear();
        scanned.clear();
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.terminate();
        }
    }

    // ------------------------------------------------------------------ directories

    /// Has the kernel watch a directory. Who calls this has to listen to the result or take it
    /// back.
    ///
    /// @param flags IN_DONT_FOLLOW or none
    /// @return the kernel's watch, or `-errno`
    int watch(Path directory, int flags) {
        return calls.addWatch(descriptor.fd(), FileNames.bytes(directory), MASK | flags);
    }

    /// The same for one that has to be there.
    ///
    /// @throws SystemCallException that names the directory if the kernel refuses
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
        // Refused only if the directory is gone, and the watch with it.
        int _ = calls.rmWatch(descriptor.fd(), watch);
    }

    /// Which directory is there, without watching it if nobody does.
    ///
    /// @return the kernel's watch, or `-errno`
    int probe(Path directory, int flags) {
        int found = watch(directory, flags);
        if (found >= 0 && !listeners.hasAny(found)) {
            removeWatch(found);
        }
        return found;
    }

    /// Whether the path still leads to the directory that is watched.
    boolean isSameDirectory(Path directory, int watch) {
        int found = probe(directory, 0);
        // Other refusals do not mean that it is gone.
        return found < 0 ? !isMissing(-found) : found == watch;
    }

    static boolean isMissing(int errno) {
        return errno == Errno.ENOENT || errno == Errno.ENOTDIR || errno == Errno.ELOOP;
    }

    /// Which read is under way, or was the last.
    long reads() {
        return reads;
    }

    /// How often a directory is known to have come, gone, or changed its place.
    long directoryChanges() {
        return directoryChanges;
    }

    void markScanned(DirectoryNode node) {
        scanned.add(node);
    }

    Set<DirectoryNode> scanned() {
        return scanned;
    }

    // ------------------------------------------------------------------ events

    /// Reads, and again as long as somebody was faster than our look, or what we believe is wrong.
    void readAndVerify() {
        int looks = dispatch.isHalfFull() ? 0 : MAX_VERIFICATIONS;
        while (looks > 0 && read() && !verify(looks == 1)) {
            looks--;
        }
    }

    /// @return whether all that happened is known
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
            // What was scanned before this read has had all its events now.
            scanned.removeIf(node -> node.expireReported(reads));
        }
        updateMoveTimer();
        return drained && events.pendingMove() == null;
    }

    private boolean verify(boolean isLastLook) {
        boolean settled = true;
        for (OpenFileWatch watch : List.copyOf(watches)) {
            settled &= watch.verify(isLastLook);
        }
        return settled;
    }

    /// Nothing can be read any more. The watches are over as soon as they were told, and whoever
    /// watches next is given another instance.
    private void onReadFailed() {
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.onReadFailed();
        }
        loop.unwatch(descriptor); // Or it would be reported for ever.
        loop.disown(ownership);
        ownership = new Lost(this);
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

    /// The loop may have been busy all the time, so one look more.
    private void onMoveTimeout() {
        MoveHalf alone = events.pendingMove();
        boolean isAllKnown = read();
        if (alone != null && alone.equals(events.pendingMove())) {
            events.expirePendingMove();
            updateMoveTimer();
            isAllKnown = true;
        }
        if (isAllKnown && !verify(false)) {
            readAndVerify();
        }
    }

    @Override
    public void onEntry(int watch, int mask, Path name) {
        if ((mask & (IN_CREATE | IN_DELETE)) != 0) {
            renames.forget(watch);
            directoryChanges += (mask & IN_ISDIR) != 0 ? 1 : 0;
        }
        for (DirectoryListener listener : listeners.of(watch)) {
            listener.onEntry(mask, name);
        }
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
        for (DirectoryListener listener : listeners.of(from.watch())) {
            listener.onMovedAway(from.name());
        }
        checkExchange(from, null);
    }

    private void checkExchange(MoveHalf from, @Nullable MoveHalf target) {
        if (renames.isPossibleExchange(from, target)) {
            for (DirectoryListener listener : listeners.of(from.watch())) {
                listener.onPossibleExchange(from.name());
            }
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
        List<DirectoryListener> told = listeners.of(watch);
        if ((mask & IN_IGNORED) != 0) {
            listeners.removeAll(watch); // The kernel has dropped it.
            renames.forget(watch);
        }
        directoryChanges += (mask & IN_UNMOUNT) != 0 ? 1 : 0;
        for (DirectoryListener listener : told) {
            listener.onSelf(mask);
        }
    }

    @Override
    public void onOverflow() {
        scanned.removeIf(node -> node.expireReported(Long.MAX_VALUE));
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.recover();
        }
    }
}
