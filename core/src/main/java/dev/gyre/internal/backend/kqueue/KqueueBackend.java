package dev.gyre.internal.backend.kqueue;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueCalls;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/// The backend over the kqueue of macOS and FreeBSD.
///
/// As with epoll, the loop thread that waits, threads that register and threads that wake each have
/// their own [KqueueCalls].
public final class KqueueBackend implements Backend {
    /// The longest timeout of one call: old versions of macOS refuse years. Longer waits consist of
    /// several calls.
    private static final long MAX_WAIT_NANOS = 86_400_000_000_000L;

    private final KqueueFlavour flavour;
    private final int kq;
    private final int eventsPerWait;
    private final KqueueWakeup wakeup;
    private final KqueueRegistrations registrations;

    // For operations, on the loop thread.
    private final SyscallFactories loopSyscalls;

    // For any thread.
    private final SyscallFactories syscalls;

    // Loop thread only. The array is never reallocated: the kernel has its address while it waits.
    private final KqueueCalls calls;
    private final MemorySegment events;
    private final MemorySegment timespec = Memory.allocate(Kevent.SIZEOF_TIMESPEC);
    private final MergedEvents batch;

    // Shared: set by the thread that terminates the loop, read by the loop after each wait.
    private volatile boolean closed;

    private KqueueBackend(
            KqueueCalls calls,
            KqueueCalls registering,
            KqueueFlavour flavour,
            SyscallFactories loopSyscalls,
            SyscallFactories syscalls,
            int kq,
            KqueueWakeup wakeup,
            int eventsPerWait) {
        this.calls = calls;
        this.flavour = flavour;
        this.loopSyscalls = loopSyscalls;
        this.syscalls = syscalls;
        this.kq = kq;
        this.wakeup = wakeup;
        this.eventsPerWait = eventsPerWait;
        events = Memory.allocate((long) flavour.sizeofKevent() * eventsPerWait);
        // Twice: from the kernel, and from broken pipes.
        batch = new MergedEvents(flavour, 2 * eventsPerWait);
        registrations = new KqueueRegistrations(registering, flavour, kq, wakeup::signal);
    }

    /// Opens a backend.
    ///
    /// @param calls supplies an instance for each party that calls the kernel
    /// @param loopSyscalls the calls of operations
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static KqueueBackend open(
            Supplier<? extends KqueueCalls> calls,
            KqueueFlavour flavour,
            SyscallFactories loopSyscalls,
            int eventsPerWait) {
        return open(calls, flavour, loopSyscalls, SyscallFactories.LINUX_BY_THREAD, eventsPerWait);
    }

    /// Opens the kqueue of a kernel other than the real one.
    ///
    /// @param syscalls the calls on its descriptors, for any thread
    static KqueueBackend open(
            Supplier<? extends KqueueCalls> calls,
            KqueueFlavour flavour,
            SyscallFactories loopSyscalls,
            SyscallFactories syscalls,
            int eventsPerWait) {
        KqueueCalls own = calls.get();
        int kq = own.kqueue();
        if (kq < 0) {
            throw new SystemCallException("kqueue", -kq, SystemCallException.NO_FD);
        }
        KqueueWakeup wakeup = null;
        try {
            // A forked child does not inherit it, but a program that replaces this process would.
            int result = own.fcntl(kq, Kevent.F_SETFD, Kevent.FD_CLOEXEC);
            if (result < 0) {
                throw new SystemCallException("fcntl", -result, kq);
            }
            wakeup = KqueueWakeup.open(calls.get(), flavour, kq);
            return new KqueueBackend(
                    own, calls.get(), flavour, loopSyscalls, syscalls, kq, wakeup, eventsPerWait);
        } catch (Throwable e) {
            // Any failure, also for lack of memory: a failed start leaks nothing.
            if (wakeup == null || !wakeup.ownsQueue()) {
                own.close(kq);
            }
            if (wakeup != null) {
                wakeup.close();
            }
            throw e;
        }
    }

    @Override
    public String name() {
        return "kqueue";
    }

    @Override
    public OperationEngine openOperations(LoopContext context) {
        return new ReadinessOperations(this, loopSyscalls, context);
    }

    @Override
    public SyscallFactories syscalls() {
        return syscalls;
    }

    @Override
    public void pollNow() {
        assert batch.remaining() == 0 : "events not dispatched yet: " + batch.remaining();
        int result;
        do {
            result = waitFor(0);
        } while (result == -Errno.EINTR);
        collect(result);
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert batch.remaining() == 0 : "events not dispatched yet: " + batch.remaining();
        int result;
        do {
            // Reads the clock each time: an interrupted wait must not restart its timeout.
            long left = deadlineNanos - nanoTime();
            boolean now = left < 0 || !registrations.brokenPipes.isEmpty();
            result = waitFor(now ? 0 : Math.min(left, MAX_WAIT_NANOS));
        } while (isTooEarly(result, deadlineNanos) && !closed);
        collect(result);
    }

    /// Returns whether a wait ended without a reason: by a signal, by our own limit, or because the
    /// kernel counts in coarser units and rounded down.
    private boolean isTooEarly(int result, long deadlineNanos) {
        return result == -Errno.EINTR
                || (result == 0
                        && registrations.brokenPipes.isEmpty()
                        && deadlineNanos - nanoTime() > 0);
    }

    private int waitFor(long nanos) {
        Memory.putLong(timespec.address(), nanos / 1_000_000_000L);
        Memory.putLong(timespec.address() + Kevent.OFFSETOF_TIMESPEC_NANOS, nanos % 1_000_000_000L);
        return calls.kevent(kq, 0, 0, events.address(), eventsPerWait, timespec.address());
    }

    private void collect(int result) {
        batch.clear();
        if (closed || result == -Errno.EINTR) {
            return; // Closed during the wait: the events have no handlers any more.
        }
        if (result < 0) {
            throw new SystemCallException("kevent", -result, kq);
        }
        for (int i = 0; i < result; i++) {
            long event = events.address() + (long) flavour.sizeofKevent() * i;
            if (!KqueueRegistrations.isOwn(Kevent.udata(event))) {
                batch.add(event);
            } else if (wakeup.drain(calls)) {
                wakeup.drained();
            }
        }
        registrations.brokenPipes.report(batch);
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        while (batch.advance()) {
            long udata = batch.udata();
            ReadinessHandler handler = registrations.find(udata);
            if (handler != null) {
                if (batch.leavesFilterArmed()) {
                    registrations.disarmRegistration(udata);
                }
                handler.onReady(batch.events());
                return handler;
            }
        }
        return null;
    }

    @Override
    public void wake() {
        wakeup.signal();
    }

    @Override
    public long wakeups() {
        return wakeup.sentCount();
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        registrations.register(fd, interest, handler);
    }

    @Override
    public void modify(int fd, int interest) {
        registrations.modify(fd, interest);
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        registrations.deregister(fd, handler);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        registrations.close();
        // First the source of events, then the wake-up. If both are one, it is closed under the
        // lock of the wake-up. Errors have no remedy.
        if (!wakeup.ownsQueue()) {
            int _ = calls.close(kq);
        }
        wakeup.close();
    }
}
