package dev.gyre.internal.backend.epoll;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.ReadinessOperations;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/// The backend over Linux epoll, with an eventfd to interrupt waits.
///
/// Three parties call the kernel: the loop thread that waits, threads that register
/// ([Registrations]) and threads that wake ([Wakeup]). Each has its own [PollCalls], because an
/// instance serves one thread at a time.
public final class EpollBackend implements Backend {
    private final int epfd;
    private final int eventsPerWait;
    private final Wakeup wakeup;
    private final Registrations registrations;

    // For operations, on the loop thread.
    private final SyscallFactories loopSyscalls;

    // For any thread.
    private final SyscallFactories syscalls;

    // Loop thread only. The array is never reallocated: the kernel has its address while it waits.
    private final PollCalls calls;
    private final MemorySegment events;
    private final TimedWait timedWait;
    private int collected;
    private int next;

    // Shared: set by the thread that terminates the loop, read by the loop after each wait.
    private volatile boolean closed;

    private EpollBackend(
            PollCalls calls,
            int epfd,
            int eventfd,
            SyscallFactories loopSyscalls,
            SyscallFactories syscalls,
            int eventsPerWait) {
        this.calls = calls;
        this.epfd = epfd;
        this.loopSyscalls = loopSyscalls;
        this.syscalls = syscalls;
        this.eventsPerWait = eventsPerWait;
        events = Memory.allocate((long) Linux.SIZEOF_EPOLL_EVENT * eventsPerWait);
        int result = addOwn(calls, epfd, eventfd, events.address());
        if (result < 0) {
            throw new SystemCallException("epoll_ctl(ADD)", -result, eventfd);
        }
        wakeup = new EventfdWakeup(loopSyscalls.kernels().get(), eventfd);
        registrations = new EpollRegistrations(loopSyscalls.kernels().get(), epfd);
        // Last, because it may open a third descriptor.
        timedWait = TimedWait.open(calls, epfd, events.address(), eventsPerWait);
    }

    /// Opens an epoll whose polling calls may be other than the real ones.
    ///
    /// @param kernels supplies an instance for each party that calls the kernel
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static EpollBackend open(Supplier<? extends PollCalls> kernels, int eventsPerWait) {
        SyscallFactories loopSyscalls =
                new SyscallFactories(
                        kernels, SyscallFactories.LINUX.sockets(), SyscallFactories.LINUX.files());
        return open(loopSyscalls, SyscallFactories.LINUX_BY_THREAD, eventsPerWait);
    }

    /// Opens a backend.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    public static EpollBackend open(SyscallFactories syscalls, int eventsPerWait) {
        return open(syscalls, syscalls.byThread(), eventsPerWait);
    }

    private static EpollBackend open(
            SyscallFactories loopSyscalls, SyscallFactories syscalls, int eventsPerWait) {
        PollCalls calls = loopSyscalls.kernels().get();
        int epfd = calls.epollCreate1(Linux.EPOLL_CLOEXEC);
        if (epfd < 0) {
            throw new SystemCallException("epoll_create1", -epfd, SystemCallException.NO_FD);
        }
        int eventfd = -1;
        try {
            eventfd = calls.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK);
            if (eventfd < 0) {
                throw new SystemCallException("eventfd", -eventfd, SystemCallException.NO_FD);
            }
            return new EpollBackend(calls, epfd, eventfd, loopSyscalls, syscalls, eventsPerWait);
        } catch (Throwable e) {
            // Any failure, also for lack of memory: a failed start leaks nothing.
            calls.close(epfd);
            if (eventfd >= 0) {
                calls.close(eventfd);
            }
            throw e;
        }
    }

    /// Adds a descriptor of the backend itself: edge-triggered, and marked by generation zero,
    /// which no registration has.
    ///
    /// @param scratch the address of room for one event
    static int addOwn(PollCalls calls, int epfd, int fd, long scratch) {
        Memory.putInt(scratch + Linux.OFFSETOF_EPOLL_EVENT_EVENTS, Linux.EPOLLIN | Linux.EPOLLET);
        Memory.putLong(scratch + Linux.OFFSETOF_EPOLL_EVENT_DATA, fd);
        return calls.epollCtl(epfd, Linux.EPOLL_CTL_ADD, fd, scratch);
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
    public String name() {
        return "epoll";
    }

    @Override
    public void pollNow() {
        assert next == collected : "events not dispatched yet: " + (collected - next);
        int result;
        do {
            result = calls.epollWait(epfd, events.address(), eventsPerWait, 0);
        } while (result == -Errno.EINTR);
        collect(result);
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        assert next == collected : "events not dispatched yet: " + (collected - next);
        int result;
        do {
            // Reads the clock each time: an interrupted wait must not restart its timeout.
            result = timedWait.until(deadlineNanos, nanoTime());
        } while (result == -Errno.EINTR && !closed);
        collect(result);
    }

    private void collect(int result) {
        next = 0;
        collected = 0;
        if (closed || result == -Errno.EINTR) {
            return; // Closed during the wait: the events have no handlers any more.
        }
        if (result < 0) {
            throw new SystemCallException("epoll_wait", -result, epfd);
        }
        collected = result;
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        while (next < collected) {
            long event = events.address() + (long) Linux.SIZEOF_EPOLL_EVENT * next++;
            long data = Memory.getLong(event + Linux.OFFSETOF_EPOLL_EVENT_DATA);
            if (data >>> 32 == 0) {
                if ((int) data == wakeup.fd()) {
                    wakeup.drained();
                }
                continue;
            }
            ReadinessHandler handler = registrations.find(data);
            if (handler != null) {
                handler.onReady(Memory.getInt(event + Linux.OFFSETOF_EPOLL_EVENT_EVENTS));
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
        // First the source of events, then the wake-up. Errors have no remedy: Linux frees the
        // number even if close reports one.
        int _ = calls.close(epfd);
        timedWait.close();
        wakeup.close();
    }

    /// Registers descriptors by `epoll_ctl`: one entry with one mask per descriptor.
    static final class EpollRegistrations extends Registrations {
        private final PollCalls calls;
        private final int epfd;
        private final MemorySegment event = Memory.allocate(Linux.SIZEOF_EPOLL_EVENT);

        EpollRegistrations(PollCalls calls, int epfd) {
            this.calls = calls;
            this.epfd = epfd;
        }

        @Override
        protected String call(boolean registering) {
            return registering ? "epoll_ctl(ADD)" : "epoll_ctl(MOD)";
        }

        /// Tries the likelier operation first, then the other one. The table does not know when an
        /// fd was closed and reused, because the kernel then removes its entry silently.
        @Override
        protected int arm(boolean registering, int fd, long data, int interest) {
            if (Readiness.isEmpty(interest)) {
                // An empty mask would still report errors and hang-ups, again and again.
                disarm(fd);
                return registering ? probe(fd) : 0;
            }
            // Reads stop short at urgent data too.
            int mask = (interest & Readiness.END) != 0 ? interest | Readiness.URGENT : interest;
            int result =
                    control(
                            registering ? Linux.EPOLL_CTL_ADD : Linux.EPOLL_CTL_MOD,
                            fd,
                            data,
                            mask);
            return switch (-result) {
                case Errno.EEXIST -> control(Linux.EPOLL_CTL_MOD, fd, data, mask);
                case Errno.ENOENT -> control(Linux.EPOLL_CTL_ADD, fd, data, mask);
                default -> result;
            };
        }

        @Override
        protected void disarm(int fd) {
            int _ = calls.epollCtl(epfd, Linux.EPOLL_CTL_DEL, fd, event.address());
        }

        /// Fails if the kernel cannot poll the descriptor: now instead of with the first interest.
        private int probe(int fd) {
            int result = control(Linux.EPOLL_CTL_ADD, fd, fd, 0);
            return result < 0
                    ? result
                    : calls.epollCtl(epfd, Linux.EPOLL_CTL_DEL, fd, event.address());
        }

        private int control(int operation, int fd, long data, int mask) {
            long address = event.address();
            Memory.putInt(address + Linux.OFFSETOF_EPOLL_EVENT_EVENTS, mask);
            Memory.putLong(address + Linux.OFFSETOF_EPOLL_EVENT_DATA, data);
            return calls.epollCtl(epfd, operation, fd, address);
        }
    }
}
