package dev.gyre.internal.backend.epoll;

import static dev.gyre.internal.sys.Linux.EPOLLET;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_DATA;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_EVENTS;
import static dev.gyre.internal.sys.Linux.SIZEOF_EPOLL_EVENT;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.backend.WakeSignal;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/// Linux epoll: one descriptor that knows all others, an eventfd that interrupts it, and a fixed array
/// that the kernel writes events into.
///
/// Three parties call the kernel, each with an instance of its own because an instance serves one
/// thread at a time: the loop thread that waits, whoever registers ([Registrations]) and whoever wakes
/// ([WakeSignal]).
public final class EpollBackend implements Backend {
    private final int epfd;
    private final int eventsPerWait;
    private final WakeSignal wake;
    private final Registrations registrations;

    // Loop thread only. The array is never reallocated: the kernel has its address while it waits.
    private final PollSyscalls kernel;
    private final MemorySegment events;
    private final TimedWait timedWait;
    private final Syscalls seam;

    // Any thread.
    private final Syscalls shared;

    // Loop thread only.
    private int collected;
    private int next;

    // Shared: set by whoever ends the loop, read by the loop thread after each wait.
    private volatile boolean closed;

    private EpollBackend(
            PollSyscalls kernel,
            int epfd,
            MemorySegment events,
            int eventsPerWait,
            WakeSignal wake,
            Registrations registrations,
            TimedWait timedWait,
            Syscalls seam,
            Syscalls shared) {
        this.seam = seam;
        this.shared = shared;
        this.kernel = kernel;
        this.epfd = epfd;
        this.events = events;
        this.eventsPerWait = eventsPerWait;
        this.wake = wake;
        this.registrations = registrations;
        this.timedWait = timedWait;
    }

    /// Opens an epoll.
    ///
    /// @param kernels makes the seam's instances, one for each party that calls the kernel; what users open is none
    ///     of theirs
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static EpollBackend open(Supplier<? extends PollSyscalls> kernels, int eventsPerWait) {
        Syscalls seam = new Syscalls(kernels, Syscalls.LINUX.sockets(), Syscalls.LINUX.files());
        return open(seam, Syscalls.LINUX_BY_THREAD, eventsPerWait);
    }

    /// The same with the rest of the seam, for operations and the sockets they are made on.
    public static EpollBackend open(Syscalls seam, int eventsPerWait) {
        return open(seam, seam.byThread(), eventsPerWait);
    }

    private static EpollBackend open(Syscalls seam, Syscalls shared, int eventsPerWait) {
        Supplier<? extends PollSyscalls> kernels = seam.kernels();
        PollSyscalls kernel = kernels.get();
        MemorySegment events = Memory.allocate((long) SIZEOF_EPOLL_EVENT * eventsPerWait);
        int epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
        if (epfd < 0) {
            throw new SystemCallException("epoll_create1", -epfd, SystemCallException.NO_FD);
        }
        int eventfd = -1;
        try {
            eventfd = kernel.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
            if (eventfd < 0) {
                throw new SystemCallException("eventfd", -eventfd, SystemCallException.NO_FD);
            }
            int result = addOwn(kernel, epfd, eventfd, events.address());
            if (result < 0) {
                throw new SystemCallException("epoll_ctl(ADD)", -result, eventfd);
            }
            WakeSignal wake = new WakeSignal(new EventfdWakeup(kernels.get(), eventfd));
            Registrations registrations =
                    new Registrations(new EpollInterestUpdater(kernels.get(), epfd));
            // Last, for it may open a third descriptor.
            TimedWait timedWait = TimedWait.choose(kernel, epfd, events.address(), eventsPerWait);
            return new EpollBackend(
                    kernel,
                    epfd,
                    events,
                    eventsPerWait,
                    wake,
                    registrations,
                    timedWait,
                    seam,
                    shared);
        } catch (Throwable e) {
            // Whatever it is, memory may have run out too: nothing leaks from a failed start.
            kernel.close(epfd);
            if (eventfd >= 0) {
                kernel.close(eventfd);
            }
            throw e;
        }
    }

    /// Adds one of the backend's own descriptors: edge-triggered, and marked by generation zero, which
    /// no registration has.
    ///
    /// @param scratch room for one event
    static int addOwn(PollSyscalls kernel, int epfd, int fd, long scratch) {
        Memory.putInt(scratch + OFFSETOF_EPOLL_EVENT_EVENTS, EPOLLIN | EPOLLET);
        Memory.putLong(scratch + OFFSETOF_EPOLL_EVENT_DATA, fd);
        return kernel.epollCtl(epfd, Linux.EPOLL_CTL_ADD, fd, scratch);
    }

    @Override
    public OperationEngine openOperations(LoopContext host) {
        return new ReadinessOperations(this, seam, host);
    }

    @Override
    public Syscalls syscalls() {
        return shared;
    }

    @Override
    public String name() {
        return "epoll";
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void pollNow() {
        assert next == collected : "events not taken yet: " + (collected - next);
        int result;
        do {
            result = kernel.epollWait(epfd, events.address(), eventsPerWait, 0);
        } while (result == -Errno.EINTR);
        collect(result);
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert next == collected : "events not taken yet: " + (collected - next);
        int result;
        do {
            // The clock anew each time: an interrupted wait must not begin its timeout again.
            result = timedWait.until(deadlineNanos, nanoTime());
        } while (result == -Errno.EINTR && !closed);
        collect(result);
    }

    private void collect(int result) {
        next = 0;
        collected = 0;
        if (closed || result == -Errno.EINTR) {
            return; // Closed while we waited: whatever the kernel wrote is nobody's any more.
        }
        if (result < 0) {
            throw new SystemCallException("epoll_wait", -result, epfd);
        }
        collected = result;
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        while (next < collected) {
            long event = events.address() + (long) SIZEOF_EPOLL_EVENT * next++;
            long data = Memory.getLong(event + OFFSETOF_EPOLL_EVENT_DATA);
            if (data >>> 32 == 0) {
                if ((int) data == wake.fd()) {
                    wake.drained();
                }
                continue;
            }
            ReadinessHandler handler = registrations.find(data);
            if (handler != null) {
                handler.onReady(Memory.getInt(event + OFFSETOF_EPOLL_EVENT_EVENTS));
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
        // No events any more, and only then what wakes. Errors have no remedy here: Linux frees the
        // number even when close reports one.
        int _ = kernel.close(epfd);
        timedWait.close();
        wake.close();
    }
}
