package dev.gyre.internal.files;

import static dev.gyre.internal.sys.Linux.IN_CLOSE_WRITE;
import static dev.gyre.internal.sys.Linux.IN_CREATE;
import static dev.gyre.internal.sys.Linux.IN_DELETE;
import static dev.gyre.internal.sys.Linux.IN_DELETE_SELF;
import static dev.gyre.internal.sys.Linux.IN_EXCL_UNLINK;
import static dev.gyre.internal.sys.Linux.IN_IGNORED;
import static dev.gyre.internal.sys.Linux.IN_MODIFY;
import static dev.gyre.internal.sys.Linux.IN_MOVED_FROM;
import static dev.gyre.internal.sys.Linux.IN_MOVED_TO;
import static dev.gyre.internal.sys.Linux.IN_MOVE_SELF;
import static dev.gyre.internal.sys.Linux.IN_ONLYDIR;
import static dev.gyre.internal.sys.Linux.IN_UNMOUNT;

import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.Watch;
import dev.gyre.Watcher;
import dev.gyre.internal.files.EventStream.Half;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.Reclaimer;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileNames;
import dev.gyre.internal.sys.Inotify;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/// The inotify instance that all watches of a loop share: opened for the first of them, closed
/// with the last.
///
/// Only directories are watched, all for the same events, because for the kernel a directory is
/// one watch however many of ours are interested in it.
///
/// Loop thread only.
final class Notifications implements AutoCloseable, EventStream.Sink {
    static final int UNWATCHED = -1;

    /// How long half a move waits for the other half.
    static final Duration PATIENCE = Duration.ofMillis(10);

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
    private record Lost(Notifications notifications) implements AutoCloseable {
        @Override
        public void close() {
            notifications.close();
        }
    }

    private final Loop loop;
    private final Inotify inotify;
    private final Descriptor descriptor;
    private final Watcher watcher;
    private final EventStream events;
    private final Deliveries deliveries;
    private final Map<Integer, List<DirectoryListener>> listeners = new HashMap<>();
    private final Set<OpenFileWatch> watches = new LinkedHashSet<>();

    /// Those that remember what they reported before its event came.
    private final List<TreeNode> scanned = new ArrayList<>();

    /// What the loop closes when it ends.
    private AutoCloseable belonging = this;

    /// Where the last move led, if nothing has moved since.
    private @Nullable Half arrived;

    private @Nullable Timer patience;
    private int referenced;
    private long reads;
    private boolean closed;

    private Notifications(Loop loop, Inotify inotify, Descriptor descriptor) {
        this.loop = loop;
        this.inotify = inotify;
        this.descriptor = descriptor;
        events = new EventStream(descriptor, this);
        deliveries = new Deliveries(loop);
        watcher = loop.watch(descriptor, Watch.reading(ready -> onReadable()));
        loop.own(belonging);
    }

    /// The loop's own, opened if there is none yet.
    ///
    /// @throws SystemCallException if the kernel refuses
    static Notifications of(
            Loop loop, Supplier<? extends Inotify> seam, Supplier<? extends Kernel> kernels) {
        Notifications present = loop.owned(Notifications.class);
        if (present != null) {
            return present;
        }
        Inotify inotify = seam.get();
        Reclaimer.reclaim(); // Numbers may have run out for want of a look.
        int fd = inotify.init1(Linux.IN_NONBLOCK | Linux.IN_CLOEXEC);
        if (fd < 0) {
            throw new SystemCallException("inotify_init1", -fd, SystemCallException.NO_FD);
        }
        Descriptor descriptor = OpenDescriptor.fresh(kernels, fd, true);
        try {
            return new Notifications(loop, inotify, descriptor);
        } catch (Throwable e) {
            descriptor.close();
            throw e;
        }
    }

    Loop loop() {
        return loop;
    }

    Deliveries deliveries() {
        return deliveries;
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
            loop.disown(belonging);
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
        Timer waiting = patience;
        if (waiting != null) {
            waiting.cancel();
        }
        deliveries.clear();
        listeners.clear();
        scanned.clear();
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.end();
        }
    }

    // ------------------------------------------------------------------ directories

    /// Has the kernel watch a directory. Who calls this has to listen to the result or take it
    /// back.
    ///
    /// @param flags IN_DONT_FOLLOW or none
    /// @return the kernel's watch, or `-errno`
    int watch(Path directory, int flags) {
        return inotify.addWatch(descriptor.fd(), FileNames.bytes(directory), MASK | flags);
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
        listeners.computeIfAbsent(watch, key -> new ArrayList<>(1)).add(listener);
    }

    void unlisten(int watch, DirectoryListener listener) {
        List<DirectoryListener> found = listeners.get(watch);
        if (found != null && found.remove(listener) && found.isEmpty()) {
            listeners.remove(watch);
            forget(watch);
        }
    }

    private void forget(int watch) {
        // Refused only if the directory is gone, and the watch with it.
        int _ = inotify.rmWatch(descriptor.fd(), watch);
    }

    /// Which directory is there, without watching it if nobody does.
    ///
    /// @return the kernel's watch, or `-errno`
    int look(Path directory, int flags) {
        int found = watch(directory, flags);
        if (found >= 0 && !listeners.containsKey(found)) {
            forget(found);
        }
        return found;
    }

    /// Whether the path still leads to the directory that is watched.
    boolean isStill(Path directory, int watch) {
        int found = look(directory, 0);
        // Other refusals do not mean that it is gone.
        return found < 0 ? !isAbsence(-found) : found == watch;
    }

    static boolean isAbsence(int errno) {
        return errno == Errno.ENOENT || errno == Errno.ENOTDIR || errno == Errno.ELOOP;
    }

    /// Which read is under way, or was the last.
    long reads() {
        return reads;
    }

    void hasScanned(TreeNode node) {
        scanned.add(node);
    }

    // ------------------------------------------------------------------ events

    private void onReadable() {
        if (!deliveries.isAmple() && read() && !settle(false)) {
            // Somebody was faster than our look, or what we believe is wrong.
            if (read()) {
                boolean _ = settle(true);
            }
        }
    }

    /// @return whether all that happened is known
    private boolean read() {
        reads++;
        boolean drained;
        try {
            drained = events.read();
        } catch (SystemCallException | IllegalStateException e) {
            isLost();
            throw e;
        }
        if (drained) {
            // What was scanned before this read has had all its events now.
            scanned.removeIf(node -> node.forgetReported(reads));
        }
        awaitSecondHalf();
        return drained && events.held() == null;
    }

    private boolean settle(boolean isLastLook) {
        boolean settled = true;
        for (OpenFileWatch watch : List.copyOf(watches)) {
            settled &= watch.settle(isLastLook);
        }
        return settled;
    }

    /// Nothing can be read any more. The watches are over as soon as they were told, and whoever
    /// watches next is given another instance.
    private void isLost() {
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.isLost();
        }
        loop.unwatch(descriptor); // Or it would be reported for ever.
        loop.disown(belonging);
        belonging = new Lost(this);
        loop.own(belonging);
    }

    private void awaitSecondHalf() {
        Timer waiting = patience;
        if (events.held() == null) {
            if (waiting != null) {
                waiting.cancel();
            }
        } else if (waiting == null) {
            patience = loop.after(PATIENCE, timer -> onImpatience()).unreference();
        } else {
            waiting.reschedule(PATIENCE);
        }
    }

    /// The loop may have been busy all the time, so one look more.
    private void onImpatience() {
        Half alone = events.held();
        boolean isAllKnown = read();
        if (alone != null && alone.equals(events.held())) {
            events.settle();
            awaitSecondHalf();
            isAllKnown = true;
        }
        if (isAllKnown) {
            boolean _ = settle(true);
        }
    }

    @Override
    public void onEntry(int watch, int mask, Path name) {
        for (DirectoryListener listener : listeners(watch)) {
            listener.onEntry(mask, name);
        }
    }

    @Override
    public void onMoved(Half from, Half to) {
        for (DirectoryListener listener : listeners(from.watch())) {
            DirectoryListener target = listenerOf(listener.watch(), to.watch());
            if (target == null) {
                listener.onMovedAway(from.name());
            } else {
                listener.onMoved(from.name(), target, to.name(), to.isDirectory());
            }
        }
        for (DirectoryListener listener : listeners(to.watch())) {
            if (listenerOf(listener.watch(), from.watch()) == null) {
                listener.onMovedIn(to.name(), to.isDirectory());
            }
        }
        hasLeft(from);
        arrived = to;
    }

    @Override
    public void onMovedAway(Half from) {
        for (DirectoryListener listener : listeners(from.watch())) {
            listener.onMovedAway(from.name());
        }
        hasLeft(from);
    }

    private void hasLeft(Half from) {
        Half before = arrived;
        if (before != null && before.watch() == from.watch() && before.name().equals(from.name())) {
            for (DirectoryListener listener : listeners(from.watch())) {
                listener.onLeftAtOnce(from.name());
            }
        }
        arrived = null;
    }

    @Override
    public void onMovedIn(Half to) {
        arrived = to;
        for (DirectoryListener listener : listeners(to.watch())) {
            listener.onMovedIn(to.name(), to.isDirectory());
        }
    }

    @Override
    public void onSelf(int watch, int mask) {
        if ((mask & SELF_EVENTS) == 0) {
            return;
        }
        List<DirectoryListener> told = listeners(watch);
        if ((mask & IN_IGNORED) != 0) {
            listeners.remove(watch); // The kernel has dropped it.
        }
        for (DirectoryListener listener : told) {
            listener.onSelf(mask);
        }
    }

    @Override
    public void onOverflow() {
        scanned.removeIf(node -> node.forgetReported(Long.MAX_VALUE));
        for (OpenFileWatch watch : List.copyOf(watches)) {
            watch.recover();
        }
    }

    /// A copy, for telling them may add and remove some. Empty for a watch that was given up while
    /// its events were on their way; the kernel does not use its number again before it has used
    /// all others.
    private List<DirectoryListener> listeners(int watch) {
        List<DirectoryListener> found = listeners.get(watch);
        return found == null ? List.of() : List.copyOf(found);
    }

    private @Nullable DirectoryListener listenerOf(OpenFileWatch owner, int watch) {
        List<DirectoryListener> found = listeners.get(watch);
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
