package dev.gyre.internal.backend.uring;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.ReadinessHandler;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Which descriptor has which [PollRegistration], and what has changed since the loop thread looked.
///
/// Any thread changes; only the loop thread may talk to the ring. So a change is noted here, once however
/// often it is made, and the loop thread takes all of them before it enters the kernel.
final class PollTable {
    private static final int MOST = 1 << 24;

    /// Also guards whose the ring is: see [IoUringBackend].
    final Object lock = new Object();

    // Shared: guarded by lock.
    private final PollableProbe pollability;
    private @Nullable PollRegistration[] byFd = new @Nullable PollRegistration[64];
    private List<PollRegistration> changes = new ArrayList<>();
    private boolean closed;

    // Shared: written under the lock, read by the loop thread without it.
    private volatile boolean changed;

    // Shared: set by the loop thread around each wait, read by whoever has noted a change.
    private volatile boolean waiting;

    // Loop thread only: takes turns with the list of changes.
    private List<PollRegistration> emptied = new ArrayList<>();

    PollTable(PollableProbe pollability) {
        this.pollability = pollability;
    }

    void register(int fd, int interest, ReadinessHandler handler) {
        if (fd < 0 || fd >= MOST) {
            throw new IllegalArgumentException("not a descriptor: " + fd);
        }
        synchronized (lock) {
            requireOpen();
            PollRegistration replaced = at(fd);
            if (replaced != null) {
                replaced.remove();
                note(replaced);
                byFd[fd] = null;
            }
            int result = pollability.examine(fd);
            if (result < 0) {
                throw new SystemCallException(PollableProbe.CALL, -result, fd);
            }
            if (fd >= byFd.length) {
                byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
            }
            PollRegistration poll = new PollRegistration(fd, interest, handler);
            byFd[fd] = poll;
            note(poll);
        }
    }

    /// Changes what is wanted of a descriptor, if it is registered.
    ///
    /// @return whether there is anything to tell the kernel
    boolean modify(int fd, int interest) {
        synchronized (lock) {
            requireOpen();
            PollRegistration poll = at(fd);
            if (poll == null) {
                return false;
            }
            poll.want(interest);
            note(poll);
            return true;
        }
    }

    /// Forgets a descriptor, if it is registered with this handler.
    ///
    /// @return what was registered, which is noted as a change; null if nothing was
    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    @Nullable PollRegistration deregister(int fd, ReadinessHandler handler) {
        synchronized (lock) {
            PollRegistration poll = at(fd);
            if (closed || poll == null || poll.handler != handler) {
                return null;
            }
            byFd[fd] = null;
            poll.remove();
            note(poll);
            return poll;
        }
    }

    /// The loop thread is about to wait. Announced first, looked at second, and the other way round by whoever
    /// notes a change: one of them sees the other.
    ///
    /// @return false if there are changes: then it must not wait
    boolean beginWait() {
        waiting = true;
        return !changed;
    }

    void endWait() {
        waiting = false;
    }

    /// Whether the loop thread has to be woken for what was noted before this call.
    boolean isAwaited() {
        return waiting;
    }

    /// All changes since the last call; valid until the next one. Loop thread only.
    List<PollRegistration> takeChanges() {
        emptied.clear();
        if (!changed) {
            return emptied;
        }
        synchronized (lock) {
            List<PollRegistration> taken = changes;
            changes = emptied;
            emptied = taken;
            changed = false;
            for (int i = 0; i < taken.size(); i++) {
                taken.get(i).queued = false;
            }
            return taken;
        }
    }

    /// Refuses changes from now on.
    void close() {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                pollability.close();
            }
        }
    }

    private void note(PollRegistration poll) {
        if (!poll.queued) {
            poll.queued = true;
            changes.add(poll);
        }
        changed = true;
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException("the loop is over: its descriptors are released");
        }
    }

    private @Nullable PollRegistration at(int fd) {
        return fd >= 0 && fd < byFd.length ? byFd[fd] : null;
    }
}
