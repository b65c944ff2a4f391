package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

/// The io_uring backend of Linux.
///
/// ```
///                    ┌─▶ PollRequests ──────────────────────┐
///     IoUringBackend ┤        ▲                             ├─▶ SqeWriter ─▶ Ring
///                    └─▶ UringOperations ─▶ InFlightTable ──┘                │
///                                                                            │ CQE
///     IoUringBackend ◀───────────────────────────────────────────────────────┘
///           │  watcher: PollRequests ─▶ confirmed by poll(2) ─▶ handler
///           └─ operation: UringOperations ─▶ CqeProcessor ─▶ CompletionQueue ─▶ owner
/// ```
///
/// **Threads.** Any thread changes registrations in the [PollTable]. The loop thread submits them
/// before it waits. Between two runs only polls are in flight: they end with the ring, and use no
/// memory. At the end of a run, the loop thread cancels all operations, and the next run submits
/// them again.
public final class IoUringBackend implements Backend {
    static final int SQ_ENTRIES = 256;
    private static final int MIN_CQ_ENTRIES = 4_096;

    /// The longest wait after the kernel had no room for SQEs, before they are submitted again.
    private static final long CONGESTION_NANOS = 1_000_000;

    private final SyscallFactories syscalls;
    private final SyscallFactories syscallsByThread;
    private final KernelFeatures features;
    private final PollTable table;
    private final Wakeup wake;

    // Confined to the owner of the ring; guarded by its lock while unowned.
    private final Ring ring;
    private final SqeWriter sqes;
    private final PollRequests polls;
    private @Nullable UringOperations operations;

    // Shared: written by the thread that closes the loop, read by the loop.
    private volatile boolean closed;

    private IoUringBackend(
            SyscallFactories syscalls,
            UringCalls calls,
            Ring ring,
            int epfd,
            int eventfd,
            int eventsPerWait) {
        this.syscalls = syscalls;
        this.ring = ring;
        table = new PollTable(syscalls.kernels().get(), epfd);
        wake = new EventfdWakeup(syscalls.kernels().get(), eventfd);
        syscallsByThread = syscalls.byThread();
        features = new KernelFeatures(ring.opcodes());
        sqes = new SqeWriter(ring);
        polls = new PollRequests(sqes, calls, table, wake, eventsPerWait);
    }

    /// Opens a backend.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static IoUringBackend open(
            SyscallFactories syscalls, UringCalls calls, int eventsPerWait) {
        int cqEntries = Math.max(MIN_CQ_ENTRIES, 2 * eventsPerWait);
        return open(syscalls, calls, eventsPerWait, SQ_ENTRIES, cqEntries);
    }

    static IoUringBackend open(
            SyscallFactories syscalls,
            UringCalls calls,
            int eventsPerWait,
            int sqEntries,
            int cqEntries) {
        PollCalls kernel = syscalls.kernels().get();
        Ring ring = new Ring(calls, kernel, sqEntries, cqEntries);
        int eventfd = -1;
        int epfd = -1;
        try {
            eventfd = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
            requireOpen("eventfd", eventfd);
            epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
            requireOpen("epoll_create1", epfd);
            return new IoUringBackend(syscalls, calls, ring, epfd, eventfd, eventsPerWait);
        } catch (Throwable e) {
            ring.close();
            if (eventfd >= 0) {
                kernel.close(eventfd);
            }
            if (epfd >= 0) {
                kernel.close(epfd);
            }
            throw e;
        }
    }

    private static void requireOpen(String call, int fd) {
        if (fd < 0) {
            throw new SystemCallException(call, -fd, SystemCallException.NO_FD);
        }
    }

    @Override
    public OperationEngine openOperations(LoopContext loop) {
        UringOperations opened = new UringOperations(syscalls, loop, features, ring, sqes, polls);
        operations = opened;
        return opened;
    }

    @Override
    public SyscallFactories syscalls() {
        return syscallsByThread;
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public String describe() {
        return features.describe();
    }

    @Override
    public void pollNow() {
        assert !polls.hasReady() : "collected events are not dispatched yet";
        submitPending();
        check(ring.enterNonBlocking());
        collect();
        polls.clearWoken();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert !polls.hasReady() : "collected events are not dispatched yet";
        boolean congested = false;
        do {
            submitPending();
            // Reads the clock each time: an interrupted wait must not restart its timeout.
            long left = deadlineNanos - nanoTime();
            int result;
            if (left <= 0 || ring.cqReady() > 0 || hasEvents()) {
                result = ring.enterNonBlocking();
            } else if (!congested && hasBufferForStarved()) {
                result = ring.enterNonBlocking(); // More can be submitted after it.
            } else if (congested || !allSubmitted()) {
                result = ring.waitWithoutSubmitting(Math.min(left, CONGESTION_NANOS));
            } else {
                result = await(left);
            }
            congested = Ring.isCongested(result);
            check(result);
            collect();
        } while (!hasEvents() && !closed && deadlineNanos - nanoTime() > 0);
        polls.clearWoken();
    }

    private boolean hasEvents() {
        return polls.hasReady()
                || polls.isWoken()
                || (operations != null && operations.hasCompleted());
    }

    private boolean hasBufferForStarved() {
        return operations != null && operations.table().hasBufferForStarved();
    }

    private boolean allSubmitted() {
        return polls.allSubmitted() && (operations == null || operations.table().allSubmitted());
    }

    private int await(long nanos) {
        try {
            return table.beginWait() ? ring.enterAndWait(nanos) : 0;
        } finally {
            table.endWait();
        }
    }

    /// Makes the calling thread the owner of the ring, and writes SQEs while there is room.
    private void submitPending() {
        if (!ring.isOwner()) {
            synchronized (ring.lock) {
                if (ring.isEnabledElsewhere()) {
                    closeRing();
                }
                ring.acquire();
            }
        }
        if (polls.submitPending() && operations != null) {
            operations.table().submitPending();
        }
    }

    /// Closes the ring. The next one gets all polls anew. Requires the lock, and that the calling
    /// thread is the owner or there is none.
    private void closeRing() {
        ring.close();
        polls.onRingClosed();
        if (operations != null) {
            operations.onRingClosed();
        }
    }

    private void check(int result) {
        if (result >= 0 || Ring.isCongested(result)) {
            return;
        }
        switch (-result) {
            case Errno.EINTR, Errno.ETIME -> {}
            // Out of memory, the kernel has dropped CQEs, and does not report which.
            case Errno.EBADR -> {
                collect();
                synchronized (ring.lock) {
                    closeRing();
                }
            }
            default -> throw new SystemCallException("io_uring_enter", -result, ring.fd());
        }
    }

    /// Consumes CQEs until there is no room for the events that they report.
    private void collect() {
        if (closed || !ring.isOpen()) {
            return;
        }
        for (int left = ring.cqReady(); left > 0 && !polls.isFull(); left--) {
            long userData = ring.cqeUserData();
            int result = ring.cqeResult();
            int flags = ring.cqeFlags();
            ring.advanceCq();
            if (!UserData.isOperation(userData)) {
                polls.onCompletion(userData, result, flags, true);
            } else if (operations != null) {
                operations.onCompletion(userData, result, flags);
            }
        }
        ring.releaseCqes();
        polls.confirmReady();
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return closed ? null : polls.dispatchNext();
    }

    @Override
    public void wake() {
        wake.signal();
    }

    @Override
    public long wakeups() {
        return wake.sentCount();
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        try {
            table.register(fd, interest, handler);
        } finally {
            wakeIfWaiting();
        }
    }

    @Override
    public void modify(int fd, int interest) {
        if (table.modify(fd, interest)) {
            wakeIfWaiting();
        }
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        PollRegistration poll = table.deregister(fd, handler);
        if (poll == null) {
            return;
        }
        if (ring.isOwner()) {
            cancelNow(poll);
            return;
        }
        synchronized (ring.lock) {
            if (ring.isUnowned() && poll.userData != 0) {
                if (ring.isEnabledHere()) {
                    cancelNow(poll);
                } else {
                    closeRing();
                }
            }
        }
        wakeIfWaiting();
    }

    /// Cancels a poll in the kernel at once. Until then it keeps its file open, even if the number
    /// is closed, and the peer does not see the close.
    private void cancelNow(PollRegistration poll) {
        // If there is no room, the next wait submits it: it is queued as a change.
        if (poll.userData != 0 && ring.isOpen() && polls.submit(poll)) {
            int _ = ring.enterNonBlocking();
        }
    }

    private void wakeIfWaiting() {
        if (table.isLoopWaiting()) {
            wake.signal();
        }
    }

    @Override
    public void detach() {
        if (!ring.isOwner()) {
            return;
        }
        if (operations != null) {
            operations.cancelInFlight();
        }
        synchronized (ring.lock) {
            if (ring.isOpen()) {
                // Descriptors that were closed in the last callback are released.
                boolean _ = polls.submitPending();
                int _ = ring.enterNonBlocking();
                ring.release();
            }
        }
    }

    @Override
    public void close() {
        if (operations != null && ring.isOwner()) {
            operations.close(); // Waits for the kernel, and therefore not under the lock.
        }
        synchronized (ring.lock) {
            if (closed) {
                return;
            }
            if (operations != null) {
                operations.close(); // Between runs nothing is in flight.
            }
            closed = true;
            table.close();
            closeRing();
        }
        wake.close();
    }
}
