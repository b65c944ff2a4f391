package dev.gyre.internal.backend.kqueue;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.KernelEvents;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.backend.VnodeChange;
import dev.gyre.internal.backend.WakeSignal;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;

/// The kqueue of macOS and FreeBSD: one descriptor that knows all others, an event of our own
/// that interrupts it, and a fixed array that the kernel writes events into.
///
/// As with epoll, whoever calls the kernel has an instance of the calls of its own: the loop
/// thread that waits, those who register, and those who wake.
public final class KqueueBackend implements Backend, KernelEvents {
    /// What is asked of the kernel at most; longer waits are made of several. Old macOS refuses
    /// years.
    private static final long LONGEST_WAIT_NANOS = 86_400_000_000_000L;

    private static final int ALL_CHANGES =
            VnodeChange.DELETED
                    | VnodeChange.WRITTEN
                    | VnodeChange.EXTENDED
                    | VnodeChange.ATTRIBUTES
                    | VnodeChange.LINKS
                    | VnodeChange.RENAMED
                    | VnodeChange.REVOKED;

    private final KqueueFlavour flavour;
    private final Syscalls seam;
    private final Syscalls shared;
    private final int kq;
    private final int eventsPerWait;
    private final KqueueWakeup bell;
    private final WakeSignal wake;
    private final BrokenPipes brokenPipes;

    /// By the table that a [Mark] names.
    private final List<Registrations> tables;

    // Loop thread only. The array is never reallocated: the kernel has its address while it waits.
    private final KqueueCalls calls;
    private final MemorySegment events;
    private final MemorySegment timespec = Memory.allocate(Kevent.SIZEOF_TIMESPEC);
    private final Batch batch;

    // Shared: set by whoever ends the loop, read by the loop thread after each wait.
    private volatile boolean closed;

    private KqueueBackend(
            KqueueCalls calls,
            Supplier<? extends KqueueCalls> others,
            KqueueFlavour flavour,
            Syscalls seam,
            Syscalls shared,
            int kq,
            KqueueWakeup bell,
            int eventsPerWait) {
        this.calls = calls;
        this.flavour = flavour;
        this.seam = seam;
        this.shared = shared;
        this.kq = kq;
        this.bell = bell;
        this.eventsPerWait = eventsPerWait;
        events = Memory.allocate((long) flavour.sizeofKevent() * eventsPerWait);
        batch = new Batch(2 * eventsPerWait); // As many from the kernel, and from us.
        wake = new WakeSignal(bell);
        brokenPipes = new BrokenPipes(wake::signal);
        KqueueCalls descriptors = others.get();
        ChangeList changes = new ChangeList(descriptors, flavour, kq);
        tables =
                List.of(
                        new Registrations(
                                new FilterInterestUpdater(
                                        descriptors, changes, flavour.exceptFilter(), brokenPipes)),
                        table(others.get(), Kevent.EVFILT_SIGNAL, Mark.SIGNAL),
                        table(others.get(), Kevent.EVFILT_PROC, Mark.PROCESS),
                        table(others.get(), Kevent.EVFILT_VNODE, Mark.VNODE));
    }

    private Registrations table(KqueueCalls own, int filter, int table) {
        return new Registrations(
                new EventInterestUpdater(new ChangeList(own, flavour, kq), filter, table));
    }

    /// Opens a kqueue.
    ///
    /// @param calls makes the seam's instances, one for each party that calls the kernel
    /// @param seam the rest of it, for operations
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static KqueueBackend open(
            Supplier<? extends KqueueCalls> calls,
            KqueueFlavour flavour,
            Syscalls seam,
            int eventsPerWait) {
        return open(calls, flavour, seam, Syscalls.LINUX_BY_THREAD, eventsPerWait);
    }

    /// The same for another kernel than the real one.
    ///
    /// @param shared what any thread uses its descriptors through
    static KqueueBackend open(
            Supplier<? extends KqueueCalls> calls,
            KqueueFlavour flavour,
            Syscalls seam,
            Syscalls shared,
            int eventsPerWait) {
        KqueueCalls own = calls.get();
        int kq = own.kqueue();
        if (kq < 0) {
            throw new SystemCallException("kqueue", -kq, SystemCallException.NO_FD);
        }
        KqueueWakeup bell = null;
        try {
            // A child by fork does not get it anyway, but one that replaces this process would.
            int result = own.fcntl(kq, Kevent.F_SETFD, Kevent.FD_CLOEXEC);
            if (result < 0) {
                throw new SystemCallException("fcntl", -result, kq);
            }
            bell = KqueueWakeup.choose(calls.get(), flavour, kq);
            return new KqueueBackend(own, calls, flavour, seam, shared, kq, bell, eventsPerWait);
        } catch (Throwable e) {
            // Whatever it is, memory may have run out too: nothing leaks from a failed start.
            if (bell == null || !bell.isTheQueue()) {
                own.close(kq);
            }
            if (bell != null) {
                bell.close();
            }
            throw e;
        }
    }

    @Override
    public String name() {
        return "kqueue";
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public OperationEngine openOperations(LoopContext host) {
        return new ReadinessOperations(this, seam, host);
    }

    @Override
    public Syscalls syscalls() {
        return shared;
    }

    // ------------------------------------------------------------------ waiting

    @Override
    public void pollNow() {
        assert batch.left() == 0 : "events not taken yet: " + batch.left();
        int result;
        do {
            result = waitFor(0);
        } while (result == -Errno.EINTR);
        collect(result);
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert batch.left() == 0 : "events not taken yet: " + batch.left();
        int result;
        do {
            // The clock anew each time: an interrupted wait must not begin its timeout again.
            long left = deadlineNanos - nanoTime();
            boolean now = left < 0 || !brokenPipes.isEmpty();
            result = waitFor(now ? 0 : Math.min(left, LONGEST_WAIT_NANOS));
        } while (isTooEarly(result, deadlineNanos) && !closed);
        collect(result);
    }

    /// Whether a wait ended without a reason: by a signal, by our own limit, or because the
    /// kernel counts in coarser units and rounded down.
    private boolean isTooEarly(int result, long deadlineNanos) {
        return result == -Errno.EINTR
                || (result == 0 && brokenPipes.isEmpty() && deadlineNanos - nanoTime() > 0);
    }

    private int waitFor(long nanos) {
        Memory.putLong(timespec.address(), nanos / 1_000_000_000L);
        Memory.putLong(timespec.address() + Kevent.OFFSETOF_TIMESPEC_NANOS, nanos % 1_000_000_000L);
        return calls.kevent(kq, 0, 0, events.address(), eventsPerWait, timespec.address());
    }

    private void collect(int result) {
        batch.clear();
        if (closed || result == -Errno.EINTR) {
            return; // Closed while we waited: whatever the kernel wrote is nobody's any more.
        }
        if (result < 0) {
            throw new SystemCallException("kevent", -result, kq);
        }
        for (int i = 0; i < result; i++) {
            collectEvent(events.address() + (long) flavour.sizeofKevent() * i);
        }
        brokenPipes.report(batch);
    }

    private void collectEvent(long event) {
        long udata = Kevent.udata(event);
        if (Mark.isOwn(udata)) {
            if (bell.drain(calls)) {
                wake.drained();
            }
            return;
        }
        if (Mark.table(udata) != Mark.DESCRIPTOR && errno(event) != 0) {
            // Its data is neither a count nor an exit status.
            LOG.log(
                    Level.ERROR,
                    "a kqueue filter failed and reports nothing more",
                    new SystemCallException("kevent", errno(event), SystemCallException.NO_FD));
            return;
        }
        switch (Mark.table(udata)) {
            case Mark.DESCRIPTOR -> collectReadiness(event, udata);
            case Mark.VNODE -> batch.add(udata, Kevent.fflags(event) & ALL_CHANGES);
            default -> batch.add(udata, (int) Kevent.data(event)); // How often, or how it ended.
        }
    }

    private void collectReadiness(long event, long udata) {
        int filter = Kevent.filter(event);
        int flags = Kevent.flags(event);
        boolean failed = (flags & Kevent.EV_ERROR) != 0;
        if (filter == flavour.exceptFilter()) {
            batch.add(
                    udata, failed ? Readiness.error(errno(event)) : Readiness.URGENT, Batch.EXCEPT);
            return;
        }
        boolean reads = filter == Kevent.EVFILT_READ;
        int told = reads ? Batch.READ : Batch.WRITE;
        int ready = reads ? Readiness.READ : Readiness.WRITE;
        if (failed) {
            ready |= Readiness.error(errno(event));
        } else if ((flags & Kevent.EV_EOF) != 0) {
            told |= reads ? Batch.READ_END : Batch.WRITE_END;
            ready = readyAtTheEnd(event, udata, reads);
        }
        batch.add(udata, ready, told);
    }

    /// Returns the [Errno] of an error event; 0 for other events.
    private int errno(long event) {
        return (Kevent.flags(event) & Kevent.EV_ERROR) != 0
                ? flavour.errno((int) Kevent.data(event))
                : 0;
    }

    /// What epoll would say of an end that a filter reports.
    ///
    /// The filters of a socket tell of an end each, as its directions end one by one; when both
    /// have ended it has hung up. A pipe has one direction only: its reader has hung up when the
    /// writer is gone, readable only if something is left, and its writer has an error when the
    /// reader is gone. A terminal is like the former.
    private static int readyAtTheEnd(long event, long udata, boolean reads) {
        int ready = reads ? Readiness.READ : Readiness.WRITE;
        if (!Mark.isSocket(udata)) {
            if (!reads) {
                return ready | Readiness.ERROR;
            }
            return Kevent.data(event) > 0 ? ready | Readiness.HANGUP : Readiness.HANGUP;
        }
        if (reads && (udata & Mark.ENDS) != 0) {
            ready |= Readiness.END;
        }
        if (Kevent.fflags(event) != 0) { // the socket's error
            return ready | Readiness.ERROR | Readiness.HANGUP;
        }
        // For one who reads too, the other filter says whether that has ended as well.
        return reads || (udata & Mark.READS) != 0 ? ready : ready | Readiness.HANGUP;
    }

    // ------------------------------------------------------------------ taking

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        while (batch.advance()) {
            long udata = batch.udata();
            Registrations table = tables.get(Mark.table(udata));
            ReadinessHandler handler = table.find(udata);
            if (handler != null) {
                if (batch.leavesOneArmed()) {
                    table.disarm(udata);
                }
                handler.onReady(batch.ready());
                return handler;
            }
        }
        return null;
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
        tables.get(Mark.DESCRIPTOR).register(fd, interest, handler);
    }

    @Override
    public void modify(int fd, int interest) {
        tables.get(Mark.DESCRIPTOR).modify(fd, interest);
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        tables.get(Mark.DESCRIPTOR).deregister(fd, handler);
    }

    @Override
    public void watchSignal(int signal, ReadinessHandler handler) {
        tables.get(Mark.SIGNAL).register(signal, 0, handler);
    }

    @Override
    public void forgetSignal(int signal, ReadinessHandler handler) {
        tables.get(Mark.SIGNAL).deregister(signal, handler);
    }

    @Override
    public void watchProcess(int pid, ReadinessHandler handler) {
        tables.get(Mark.PROCESS).register(pid, flavour.exitNotes(), handler);
    }

    @Override
    public void forgetProcess(int pid, ReadinessHandler handler) {
        tables.get(Mark.PROCESS).deregister(pid, handler);
    }

    @Override
    public void watchVnode(int fd, int changes, ReadinessHandler handler) {
        if ((changes & ~ALL_CHANGES) != 0 || changes == 0) {
            throw new IllegalArgumentException("not changes of a file: " + changes);
        }
        tables.get(Mark.VNODE).register(fd, changes, handler);
    }

    @Override
    public void forgetVnode(int fd, ReadinessHandler handler) {
        tables.get(Mark.VNODE).deregister(fd, handler);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        tables.forEach(Registrations::close);
        // No events any more, and only then what wakes; if that is one, then under the lock of
        // those
        // who wake. Errors have no remedy here.
        if (!bell.isTheQueue()) {
            int _ = calls.close(kq);
        }
        wake.close();
    }
}
