package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.WakeSignal;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// Linux io_uring: a ring that takes requests and returns their completions, and an eventfd that interrupts
/// the wait for them.
///
/// **Threads.** What any thread wants is noted, and the loop thread tells the kernel before it waits: see
/// [RingOwner]. Between two runs nothing is in flight but polls, which end with the ring and touch no
/// memory: when the loop thread leaves, it takes all operations back, to be submitted again by
/// whoever comes next.
public final class IoUringBackend implements Backend {
    static final int SUBMISSIONS = 256;
    private static final int LEAST_COMPLETIONS = 4_096;

    /// How long to wait before the kernel, which had no room for a request, is asked again.
    private static final long CONGESTION_NANOS = 1_000_000;

    /// How long to wait for what was taken back before asking again.
    private static final long RECALL_NANOS = 100_000_000;

    private final Syscalls seam;
    private final Syscalls shared;
    private final PollTable registered;
    private final WakeSignal wake;
    private final KernelFeatures repertoire;

    // Shared: the owner's, and while there is none, of whoever holds the lock of Registered.
    private final RingOwner owned;
    private final Traffic traffic;
    private @Nullable UringOperations requests;

    // Shared: set by whoever ends the loop, read by the loop thread after each wait.
    private volatile boolean closed;

    private IoUringBackend(
            Syscalls seam,
            KernelFeatures repertoire,
            RingOwner owned,
            PollTable registered,
            WakeSignal wake,
            UringCalls calls,
            int eventsPerWait) {
        this.seam = seam;
        shared = seam.byThread();
        this.repertoire = repertoire;
        this.owned = owned;
        this.registered = registered;
        this.wake = wake;
        traffic = new Traffic(wake, calls, eventsPerWait);
    }

    /// Opens a ring.
    ///
    /// @param seam makes the seam's instances, one for each party that calls the kernel
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static IoUringBackend open(Syscalls seam, UringCalls calls, int eventsPerWait) {
        return open(
                seam,
                calls,
                eventsPerWait,
                SUBMISSIONS,
                Math.max(LEAST_COMPLETIONS, 2 * eventsPerWait));
    }

    static IoUringBackend open(
            Syscalls seam, UringCalls calls, int eventsPerWait, int submissions, int completions) {
        Supplier<? extends PollSyscalls> kernels = seam.kernels();
        PollSyscalls kernel = kernels.get();
        Supplier<Ring> rings = () -> Ring.open(calls, kernel, submissions, completions);
        Ring ring = rings.get();
        int eventfd = -1;
        PollableProbe pollability = null;
        try {
            eventfd = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
            if (eventfd < 0) {
                throw new SystemCallException("eventfd", -eventfd, SystemCallException.NO_FD);
            }
            pollability = PollableProbe.open(kernels.get());
            WakeSignal wake = new WakeSignal(new EventfdWakeup(kernels.get(), eventfd));
            return new IoUringBackend(
                    seam,
                    new KernelFeatures(ring.opcodes()),
                    new RingOwner(rings, ring),
                    new PollTable(pollability),
                    wake,
                    calls,
                    eventsPerWait);
        } catch (Throwable e) {
            ring.close();
            if (eventfd >= 0) {
                kernel.close(eventfd);
            }
            if (pollability != null) {
                pollability.close();
            }
            throw e;
        }
    }

    @Override
    public OperationEngine openOperations(LoopContext host) {
        UringOperations opened = new UringOperations(seam, host, repertoire, this::recall);
        requests = opened;
        traffic.open(opened.flying());
        return opened;
    }

    @Override
    public Syscalls syscalls() {
        return shared;
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public String describe() {
        return repertoire.describe();
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    // ------------------------------------------------------------------ waiting

    @Override
    public void pollNow() {
        assert traffic.ready.isEmpty() : "events not taken yet";
        Ring own = prepare();
        check(own, own.look());
        collect();
        boolean _ = traffic.takeWoken();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert traffic.ready.isEmpty() : "events not taken yet";
        boolean congested = false;
        do {
            Ring own = prepare();
            // The clock anew each time: an interrupted wait must not begin its timeout again.
            long left = deadlineNanos - nanoTime();
            int result;
            if (left <= 0 || own.available() > 0 || isReady()) {
                result = own.look();
            } else if (!congested && traffic.hasBufferForStarved()) {
                result = own.look();
            } else if (congested || !traffic.isTold()) {
                result = own.awaitOnly(Math.min(left, CONGESTION_NANOS));
            } else {
                result = await(own, left);
            }
            congested = Ring.isCongested(result);
            check(own, result);
            collect();
        } while (!isReady() && !closed && deadlineNanos - nanoTime() > 0);
        boolean _ = traffic.takeWoken();
    }

    private boolean isReady() {
        return !traffic.ready.isEmpty()
                || traffic.isWoken()
                || (requests != null && requests.hasCompleted());
    }

    private int await(Ring own, long nanos) {
        try {
            return registered.beginWait() ? own.await(nanos) : 0;
        } finally {
            registered.endWait();
        }
    }

    /// Makes the ring this thread's own, and writes into it what is to be told.
    private Ring prepare() {
        if (!owned.isMine()) {
            synchronized (registered.lock) {
                if (owned.isForeign()) {
                    drop();
                }
                owned.takeOver();
            }
        }
        Ring own = owned.ring();
        assert own != null : "closed";
        traffic.tell(own, owned.entries(), registered.takeChanges());
        return own;
    }

    /// Lets the ring go. Polls are asked for anew with the next one. Under the lock, by the owner or while
    /// there is none.
    private void drop() {
        owned.drop();
        traffic.lost();
    }

    private void check(Ring own, int result) {
        if (result >= 0 || Ring.isCongested(result)) {
            return;
        }
        switch (-result) {
            case Errno.EINTR, Errno.ETIME -> {}
            // Out of memory, the kernel has dropped completions, and does not know whose.
            case Errno.EBADR -> {
                collect();
                synchronized (registered.lock) {
                    drop();
                }
            }
            default -> throw new SystemCallException("io_uring_enter", -result, own.fd());
        }
    }

    private void collect() {
        Ring own = owned.ring();
        // Closed while we waited, whatever the kernel wrote is nobody's any more.
        if (own != null && !closed) {
            traffic.collect(own);
        }
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return closed ? null : traffic.ready.dispatchNext();
    }

    @Override
    public void wake() {
        wake.signal();
    }

    @Override
    public long wakeups() {
        return wake.sentCount();
    }

    // ------------------------------------------------------------------ registering

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        try {
            registered.register(fd, interest, handler);
        } finally {
            wakeIfWaiting();
        }
    }

    @Override
    public void modify(int fd, int interest) {
        if (registered.modify(fd, interest)) {
            wakeIfWaiting();
        }
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        PollRegistration poll = registered.deregister(fd, handler);
        if (poll == null) {
            return;
        }
        if (owned.isMine()) {
            forget(poll);
            return;
        }
        synchronized (registered.lock) {
            if (owned.isFree() && poll.armedAs != 0) {
                if (owned.isEnabledHere()) {
                    forget(poll);
                } else {
                    drop();
                }
            }
        }
        wakeIfWaiting();
    }

    /// Has the kernel forget it now. A poll in flight keeps its file open, however often the
    /// number is closed, and the peer would not hear of it before the next wait.
    private void forget(PollRegistration poll) {
        Ring own = owned.ring();
        if (poll.armedAs != 0 && own != null && traffic.polls.tell(owned.entries(), poll)) {
            // Else it is told with the next wait: it is noted as a change.
            int _ = own.look();
        }
    }

    private void wakeIfWaiting() {
        if (registered.isAwaited()) {
            wake.signal();
        }
    }

    // ------------------------------------------------------------------ leaving

    @Override
    public void detach() {
        if (!owned.isMine()) {
            return;
        }
        recall();
        synchronized (registered.lock) {
            Ring own = owned.ring();
            if (own != null) {
                // A descriptor that was closed in the last callback is to be let go of.
                traffic.polls.add(registered.takeChanges());
                boolean _ = traffic.polls.tell(owned.entries());
                int _ = own.look();
                owned.leave();
            }
        }
    }

    /// Takes back all operations that the kernel has: each comes with its result, or will be submitted
    /// again.
    private void recall() {
        while (traffic.inKernel() > 0 && owned.isMine()) {
            Ring own = owned.ring();
            assert own != null : "the owner has a ring";
            traffic.recall(owned.entries());
            int result = own.await(RECALL_NANOS);
            if (result < 0
                    && result != -Errno.EINTR
                    && result != -Errno.ETIME
                    && !Ring.isCongested(result)) {
                return; // Nothing comes back from such a ring.
            }
            traffic.collectOperations(own);
            if (result == -Errno.ETIME) {
                traffic.askAgain();
            }
        }
    }

    @Override
    public void close() {
        if (requests != null && owned.isMine()) {
            requests.close(); // Waits for the kernel: not under the lock.
        }
        synchronized (registered.lock) {
            if (closed) {
                return;
            }
            if (requests != null) {
                requests.close(); // Between runs the kernel has none: nothing to wait for.
            }
            closed = true;
            registered.close();
            drop();
        }
        wake.close();
    }
}
