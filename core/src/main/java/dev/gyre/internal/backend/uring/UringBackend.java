package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_CQE_F_MORE;
import static dev.gyre.internal.sys.IoUring.IORING_POLL_ADD_MULTI;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_FLAGS;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_RES;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_CQE_USER_DATA;
import static dev.gyre.internal.sys.Linux.EPOLLIN;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.IoHandler;
import dev.gyre.internal.backend.RequestHost;
import dev.gyre.internal.backend.Requests;
import dev.gyre.internal.backend.WakeSignal;
import dev.gyre.internal.backend.reactor.Reactor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.Seam;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// Linux io_uring: a ring that takes requests and returns their completions, and an eventfd that interrupts
/// the wait for them.
///
/// **Whose the ring is.** A ring belongs to the thread that enabled it; the kernel refuses all others. A
/// loop, though, may be run by one thread and then by another, and be set up and closed by a third. So
/// what any thread wants is noted, and the loop thread does it; and the thread that comes to a ring of
/// another's makes a new one, and asks again for what was in flight. Between two runs nothing is in
/// flight but polls, which end with the ring and touch no memory, so anyone may then drop it.
///
/// **Waking.** A multishot poll of the eventfd reports each write, and the eventfd is never read. When
/// the poll is armed anew, old writes are reported once more: what counts is whether a signal is pending.
public final class UringBackend implements Backend {
    static final int SUBMISSIONS = 256;
    private static final int LEAST_COMPLETIONS = 4_096;

    /// How long to wait before the kernel, which had no room for a request, is asked again.
    private static final long CONGESTION_NANOS = 1_000_000;

    private final Seam seam;
    private final Supplier<Ring> rings;
    private final Registered registered;
    private final WakeSignal wake;
    private final Polls polls = new Polls();

    // Shared: written under the lock of Registered; the ring is the owner's to use, and while there
    // is none, of whoever holds the lock.
    private @Nullable Ring ring;
    private @Nullable Entries entries;
    private @Nullable Thread enabledBy;
    private boolean wakeArmed;
    private volatile @Nullable Thread owner;

    // Shared: set by the loop thread around each wait, read by whoever notes a change.
    private volatile boolean waiting;

    // Shared: set by whoever ends the loop, read by the loop thread after each wait.
    private volatile boolean closed;

    // Loop thread only.
    private final @Nullable Poll[] ready;
    private final int[] readyBits;
    private int collected;
    private int next;
    private int taken;
    private boolean woken;

    private UringBackend(
            Seam seam,
            Supplier<Ring> rings,
            Ring ring,
            Registered registered,
            WakeSignal wake,
            int eventsPerWait) {
        this.seam = seam;
        this.rings = rings;
        this.ring = ring;
        this.registered = registered;
        this.wake = wake;
        ready = new @Nullable Poll[eventsPerWait];
        readyBits = new int[eventsPerWait];
    }

    /// Opens a ring.
    ///
    /// @param seam makes the seam's instances, one for each party that calls the kernel
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static UringBackend open(Seam seam, UringCalls calls, int eventsPerWait) {
        return open(
                seam,
                calls,
                eventsPerWait,
                SUBMISSIONS,
                Math.max(LEAST_COMPLETIONS, 2 * eventsPerWait));
    }

    static UringBackend open(
            Seam seam,
            UringCalls calls,
            int eventsPerWait,
            int submissions,
            int completions) {
        Supplier<? extends Kernel> kernels = seam.kernels();
        Kernel kernel = kernels.get();
        Supplier<Ring> rings = () -> Ring.open(calls, kernel, submissions, completions);
        Ring ring = rings.get();
        int eventfd = -1;
        Pollability pollability = null;
        try {
            eventfd = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
            if (eventfd < 0) {
                throw new SystemCallException("eventfd", -eventfd, SystemCallException.NO_FD);
            }
            pollability = Pollability.open(kernels.get());
            WakeSignal wake = new WakeSignal(kernels.get(), eventfd);
            return new UringBackend(
                    seam, rings, ring, new Registered(pollability), wake, eventsPerWait);
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
    public Requests openRequests(RequestHost host) {
        return new Reactor(this, seam, host);
    }

    @Override
    public String name() {
        return "io_uring";
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    // ------------------------------------------------------------------ waiting

    @Override
    public void pollNow() {
        assert next == collected : "events not taken yet: " + (collected - next);
        Ring own = prepare();
        check(own, own.look());
        collect();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert next == collected : "events not taken yet: " + (collected - next);
        boolean congested = false;
        do {
            Ring own = prepare();
            // The clock anew each time: an interrupted wait must not begin its timeout again.
            long left = deadlineNanos - nanoTime();
            int result;
            if (left <= 0 || own.available() > 0) {
                result = own.look();
            } else if (congested || !polls.isTold()) {
                result = own.awaitOnly(Math.min(left, CONGESTION_NANOS));
            } else {
                result = await(own, left);
            }
            congested = Ring.isCongested(result);
            check(own, result);
            collect();
        } while (collected == 0 && !woken && !closed && deadlineNanos - nanoTime() > 0);
    }

    private int await(Ring own, long nanos) {
        waiting = true;
        try {
            // After the announcement: whoever notes a change later than this look will wake us.
            return registered.hasChanges() ? 0 : own.await(nanos);
        } finally {
            waiting = false;
        }
    }

    /// Makes the ring this thread's own, and writes into it what is to be told.
    private Ring prepare() {
        woken = false;
        if (!isCurrent(owner)) {
            takeOver();
        }
        Ring own = ring;
        Entries into = entries;
        assert own != null && into != null : "closed";
        if (!wakeArmed) {
            wakeArmed = into.poll(Tokens.WAKE, wake.fd(), EPOLLIN, IORING_POLL_ADD_MULTI);
        }
        polls.add(registered.takeChanges());
        boolean _ = polls.tell(into);
        return own;
    }

    private void takeOver() {
        synchronized (registered.lock) {
            if (enabledBy != null && !isCurrent(enabledBy)) {
                drop();
            }
            Ring own = ring;
            if (own == null) {
                own = rings.get();
                ring = own;
            }
            if (enabledBy == null) {
                own.enable();
                enabledBy = Thread.currentThread();
                entries = new Entries(own);
            }
            owner = Thread.currentThread();
        }
    }

    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    private static boolean isCurrent(@Nullable Thread thread) {
        return thread == Thread.currentThread();
    }

    /// Lets the ring go. What was in flight is asked for anew with the next one. Under the lock, by the owner
    /// or while there is none.
    private void drop() {
        Ring old = ring;
        if (old == null) {
            return;
        }
        if (isCurrent(enabledBy)) {
            old.unregisterDescriptor();
        }
        ring = null;
        entries = null;
        enabledBy = null;
        owner = null;
        wakeArmed = false;
        old.close();
        polls.lost();
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

    // ------------------------------------------------------------------ completions

    private void collect() {
        Ring own = ring;
        if (own == null || closed) {
            return; // Closed while we waited: whatever the kernel wrote is nobody's any more.
        }
        if (next == collected) {
            next = 0;
            collected = 0;
        }
        for (int left = own.available(); left > 0 && collected < ready.length; left--) {
            long completion = own.first();
            long token = Memory.getLong(completion + OFFSETOF_IO_URING_CQE_USER_DATA);
            int result = Memory.getInt(completion + OFFSETOF_IO_URING_CQE_RES);
            int flags = Memory.getInt(completion + OFFSETOF_IO_URING_CQE_FLAGS);
            own.next();
            if (Tokens.isPoll(token)) {
                polled(token, result, flags);
            } else if (token == Tokens.WAKE) {
                signalled(flags);
            }
        }
        own.release();
    }

    private void polled(long token, int result, int flags) {
        Poll poll = polls.find(token);
        if (poll == null) {
            return;
        }
        int bits = polls.completed(poll, result, flags);
        if (bits != 0) {
            ready[collected] = poll;
            readyBits[collected++] = bits;
        }
    }

    private void signalled(int flags) {
        if ((flags & IORING_CQE_F_MORE) == 0) {
            wakeArmed = false;
        }
        if (wake.isPending()) {
            wake.drained();
            woken = true;
        }
    }

    @Override
    public @Nullable IoHandler takeReady() {
        while (next < collected) {
            Poll poll = ready[next];
            taken = readyBits[next];
            ready[next++] = null;
            if (poll != null && !poll.isRemoved() && !closed) {
                return poll.handler;
            }
        }
        return null;
    }

    @Override
    public int taken() {
        return taken;
    }

    @Override
    public void wake() {
        wake.signal();
    }

    @Override
    public long wakeups() {
        return wake.written();
    }

    // ------------------------------------------------------------------ registering

    @Override
    public void register(int fd, int interest, IoHandler handler) {
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
    public void deregister(int fd, IoHandler handler) {
        Poll poll = registered.deregister(fd, handler);
        if (poll == null) {
            return;
        }
        if (isCurrent(owner)) {
            forget(poll);
            return;
        }
        synchronized (registered.lock) {
            if (owner == null && poll.armedAs != 0) {
                if (isCurrent(enabledBy)) {
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
    private void forget(Poll poll) {
        Ring own = ring;
        Entries into = entries;
        if (poll.armedAs != 0 && own != null && into != null && polls.tell(into, poll)) {
            // Else it is told with the next wait: it is noted as a change.
            int _ = own.look();
        }
    }

    private void wakeIfWaiting() {
        if (waiting) {
            wake.signal();
        }
    }

    // ------------------------------------------------------------------ leaving

    @Override
    public void leave() {
        if (!isCurrent(owner)) {
            return;
        }
        synchronized (registered.lock) {
            Ring own = ring;
            Entries into = entries;
            if (own != null && into != null) {
                // A descriptor that was closed in the last callback is to be let go of.
                polls.add(registered.takeChanges());
                boolean _ = polls.tell(into);
                int _ = own.look();
                own.unregisterDescriptor();
            }
            owner = null;
        }
    }

    @Override
    public void close() {
        synchronized (registered.lock) {
            if (closed) {
                return;
            }
            closed = true;
            registered.close();
            drop();
        }
        wake.close();
    }
}
