package dev.gyre.internal.backend.uring;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

/// The registered descriptors, and the registrations that changed.
///
/// Any thread changes registrations, but only the owner of the ring submits. So the table queues a
/// changed registration, once for any number of changes, and the loop thread drains the queue
/// before it enters the kernel.
final class PollTable {
    private static final int MAX_FDS = 1 << 24;

    private final Object lock = new Object();

    // Shared: guarded by lock.
    private final PollCalls kernel;
    private final int epfd;
    private final MemorySegment event = Memory.allocate(Linux.SIZEOF_EPOLL_EVENT);
    private @Nullable PollRegistration[] byFd = new @Nullable PollRegistration[64];
    private final List<PollRegistration> changes = new ArrayList<>();
    private boolean closed;

    // Shared: written under the lock, read by the loop thread without it.
    private volatile boolean hasChanges;

    // Shared: written by the loop thread, read by any thread.
    private volatile boolean waiting;

    /// @param epfd an epoll that the table owns from now on: see [#probe]
    PollTable(PollCalls kernel, int epfd) {
        this.kernel = kernel;
        this.epfd = epfd;
    }

    void register(int fd, int interest, ReadinessHandler handler) {
        if (fd < 0 || fd >= MAX_FDS) {
            throw new IllegalArgumentException("not a descriptor: " + fd);
        }
        synchronized (lock) {
            requireOpen();
            PollRegistration replaced = at(fd);
            if (replaced != null) {
                replaced.remove();
                enqueue(replaced);
                byFd[fd] = null;
            }
            probe(fd);
            if (fd >= byFd.length) {
                byFd = Arrays.copyOf(byFd, Math.max(fd + 1, byFd.length * 2));
            }
            PollRegistration poll = new PollRegistration(fd, interest, handler);
            byFd[fd] = poll;
            enqueue(poll);
        }
    }

    /// Fails if a descriptor cannot be polled. A ring reports such descriptors as always ready, and
    /// only epoll refuses them. The file type does not tell: some regular files of `/proc` can be
    /// polled, and some devices cannot.
    private void probe(int fd) {
        int result = kernel.epollCtl(epfd, Linux.EPOLL_CTL_ADD, fd, event.address());
        if (result < 0) {
            throw new SystemCallException("epoll_ctl(ADD)", -result, fd);
        }
        int _ = kernel.epollCtl(epfd, Linux.EPOLL_CTL_DEL, fd, event.address());
    }

    /// Changes the interest in a descriptor.
    ///
    /// @return false if it is not registered
    boolean modify(int fd, int interest) {
        synchronized (lock) {
            requireOpen();
            PollRegistration poll = at(fd);
            if (poll == null) {
                return false;
            }
            poll.setInterest(interest);
            enqueue(poll);
            return true;
        }
    }

    /// Removes a descriptor if it is registered with this handler.
    ///
    /// @return its registration, which is queued as a change; null if absent
    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    @Nullable PollRegistration deregister(int fd, ReadinessHandler handler) {
        synchronized (lock) {
            PollRegistration poll = at(fd);
            if (closed || poll == null || poll.handler != handler) {
                return null;
            }
            byFd[fd] = null;
            poll.remove();
            enqueue(poll);
            return poll;
        }
    }

    private void enqueue(PollRegistration poll) {
        if (!poll.changed) {
            poll.changed = true;
            changes.add(poll);
        }
        hasChanges = true;
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException(
                    "cannot register descriptors: the loop has terminated");
        }
    }

    private @Nullable PollRegistration at(int fd) {
        return fd >= 0 && fd < byFd.length ? byFd[fd] : null;
    }

    /// Returns whether the loop thread has to be woken for a change made before this call.
    boolean isLoopWaiting() {
        return waiting;
    }

    /// Rejects changes from now on.
    void close() {
        synchronized (lock) {
            if (!closed) {
                closed = true;
                kernel.close(epfd);
            }
        }
    }

    /// Announces a wait. The loop announces it first and checks for changes second. A thread that
    /// changes a registration does so in the opposite order, so one of them sees the other.
    ///
    /// @return false if there are changes, and the loop must not wait
    boolean beginWait() {
        waiting = true;
        return !hasChanges;
    }

    void endWait() {
        waiting = false;
    }

    /// Moves all changed registrations into a queue.
    void drainChanges(Queue<? super PollRegistration> into) {
        if (!hasChanges) {
            return;
        }
        synchronized (lock) {
            for (int i = 0; i < changes.size(); i++) {
                PollRegistration poll = changes.get(i);
                into.add(poll);
                poll.changed = false;
            }
            changes.clear();
            hasChanges = false;
        }
    }
}
