package dev.gyre.internal.backend.epoll;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;

import java.lang.foreign.MemorySegment;

/// How to wait for events until an instant, to the nanosecond: `epoll_wait` alone knows only
/// milliseconds.
///
/// Loop thread only, and so is its memory.
interface TimedWait {
    /// Waits once. May return early, with no events, as for a signal.
    ///
    /// @return the number of events, or `-errno`
    int until(long deadlineNanos, long nowNanos);

    void close();

    /// The best way this kernel has. Whether it has `epoll_pwait2` is asked by calling it: sandboxes
    /// refuse calls that the C library offers.
    static TimedWait choose(PollSyscalls kernel, int epfd, long eventsAddress, int maxEvents) {
        Pwait2 pwait2 = new Pwait2(kernel, epfd, eventsAddress, maxEvents);
        int result = pwait2.until(0, 0);
        boolean refused = result == -Errno.ENOSYS || result == -Errno.EPERM;
        return refused ? Timerfd.open(kernel, epfd, eventsAddress, maxEvents) : pwait2;
    }

    /// Since Linux 5.11: the timeout is part of the call.
    final class Pwait2 implements TimedWait {
        private final PollSyscalls kernel;
        private final int epfd;
        private final long eventsAddress;
        private final int maxEvents;
        private final MemorySegment timespec = Memory.allocate(Linux.SIZEOF_TIMESPEC);

        Pwait2(PollSyscalls kernel, int epfd, long eventsAddress, int maxEvents) {
            this.kernel = kernel;
            this.epfd = epfd;
            this.eventsAddress = eventsAddress;
            this.maxEvents = maxEvents;
        }

        @Override
        public int until(long deadlineNanos, long nowNanos) {
            putTimespec(timespec.address(), Math.max(0, deadlineNanos - nowNanos));
            return kernel.epollPwait2(epfd, eventsAddress, maxEvents, timespec.address());
        }

        @Override
        public void close() {}
    }

    /// On older kernels: a timerfd among the descriptors, set to the absolute instant. Like the wake-up
    /// it is edge-triggered and never read; setting it again takes an old expiration back.
    final class Timerfd implements TimedWait {
        private final PollSyscalls kernel;
        private final int epfd;
        private final int fd;
        private final long eventsAddress;
        private final int maxEvents;
        private final MemorySegment itimerspec = Memory.allocate(Linux.SIZEOF_ITIMERSPEC);

        private Timerfd(PollSyscalls kernel, int epfd, int fd, long eventsAddress, int maxEvents) {
            this.kernel = kernel;
            this.epfd = epfd;
            this.fd = fd;
            this.eventsAddress = eventsAddress;
            this.maxEvents = maxEvents;
        }

        static Timerfd open(PollSyscalls kernel, int epfd, long eventsAddress, int maxEvents) {
            int fd =
                    kernel.timerfdCreate(
                            Linux.CLOCK_MONOTONIC, Linux.TFD_CLOEXEC | Linux.TFD_NONBLOCK);
            if (fd < 0) {
                throw new SystemCallException("timerfd_create", -fd, SystemCallException.NO_FD);
            }
            int result = EpollBackend.addOwn(kernel, epfd, fd, eventsAddress);
            if (result < 0) {
                kernel.close(fd);
                throw new SystemCallException("epoll_ctl(ADD)", -result, fd);
            }
            return new Timerfd(kernel, epfd, fd, eventsAddress, maxEvents);
        }

        @Override
        public int until(long deadlineNanos, long nowNanos) {
            if (deadlineNanos - nowNanos <= 0) { // survives wrap-around
                return kernel.epollWait(epfd, eventsAddress, maxEvents, 0);
            }
            // The JVM's nanoTime is CLOCK_MONOTONIC on Linux, so the deadline is absolute for both.
            putTimespec(itimerspec.address() + Linux.OFFSETOF_ITIMERSPEC_VALUE, deadlineNanos);
            int result = kernel.timerfdSettime(fd, Linux.TFD_TIMER_ABSTIME, itimerspec.address());
            if (result < 0) {
                throw new SystemCallException("timerfd_settime", -result, fd);
            }
            return kernel.epollWait(epfd, eventsAddress, maxEvents, -1);
        }

        @Override
        public void close() {
            kernel.close(fd);
        }
    }

    private static void putTimespec(long address, long nanos) {
        Memory.putLong(address, nanos / 1_000_000_000L);
        Memory.putLong(address + Linux.OFFSETOF_TIMESPEC_NANOS, nanos % 1_000_000_000L);
    }
}
