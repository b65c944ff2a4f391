package dev.gyre.internal.backend.epoll;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import java.lang.foreign.MemorySegment;

/// Waits for events until a deadline in nanoseconds; `epoll_wait` itself counts milliseconds.
///
/// Since Linux 5.11 `epoll_pwait2` has a timeout in nanoseconds. On older kernels a timerfd among
/// the descriptors is set to the deadline. Like the wake-up it is edge-triggered and never read;
/// setting it again withdraws an old expiration.
///
/// Loop thread only, and so is its memory.
final class TimedWait {
    private static final int NO_TIMERFD = -1;

    private final PollCalls calls;
    private final int epfd;
    private final long eventsAddress;
    private final int maxEvents;
    private final int timerfd;
    private final MemorySegment time = Memory.allocate(Linux.SIZEOF_ITIMERSPEC);

    private TimedWait(PollCalls calls, int epfd, long eventsAddress, int maxEvents, int timerfd) {
        this.calls = calls;
        this.epfd = epfd;
        this.eventsAddress = eventsAddress;
        this.maxEvents = maxEvents;
        this.timerfd = timerfd;
    }

    /// Chooses the call that this kernel has. Probes `epoll_pwait2` by calling it: sandboxes refuse
    /// calls that the C library offers.
    static TimedWait open(PollCalls calls, int epfd, long eventsAddress, int maxEvents) {
        TimedWait pwait2 = new TimedWait(calls, epfd, eventsAddress, maxEvents, NO_TIMERFD);
        int result = pwait2.until(0, 0);
        if (result != -Errno.ENOSYS && result != -Errno.EPERM) {
            return pwait2;
        }
        int timer = openTimer(calls, epfd, eventsAddress);
        return new TimedWait(calls, epfd, eventsAddress, maxEvents, timer);
    }

    private static int openTimer(PollCalls calls, int epfd, long scratch) {
        int flags = Linux.TFD_CLOEXEC | Linux.TFD_NONBLOCK;
        int fd = calls.timerfdCreate(Linux.CLOCK_MONOTONIC, flags);
        if (fd < 0) {
            throw new SystemCallException("timerfd_create", -fd, SystemCallException.NO_FD);
        }
        int result = EpollBackend.addOwn(calls, epfd, fd, scratch);
        if (result < 0) {
            calls.close(fd);
            throw new SystemCallException("epoll_ctl(ADD)", -result, fd);
        }
        return fd;
    }

    /// Waits once. May return early and without events, for example after a signal.
    ///
    /// @return the number of events, or `-errno`
    int until(long deadlineNanos, long nowNanos) {
        if (timerfd == NO_TIMERFD) {
            putTimespec(time.address(), Math.max(0, deadlineNanos - nowNanos));
            return calls.epollPwait2(epfd, eventsAddress, maxEvents, time.address());
        }
        if (deadlineNanos - nowNanos <= 0) { // survives wrap-around
            return calls.epollWait(epfd, eventsAddress, maxEvents, 0);
        }
        // The JVM's nanoTime is CLOCK_MONOTONIC on Linux, so the deadline is absolute for both.
        putTimespec(time.address() + Linux.OFFSETOF_ITIMERSPEC_VALUE, deadlineNanos);
        int result = calls.timerfdSettime(timerfd, Linux.TFD_TIMER_ABSTIME, time.address());
        if (result < 0) {
            throw new SystemCallException("timerfd_settime", -result, timerfd);
        }
        return calls.epollWait(epfd, eventsAddress, maxEvents, -1);
    }

    void close() {
        if (timerfd != NO_TIMERFD) {
            calls.close(timerfd);
        }
    }

    private static void putTimespec(long address, long nanos) {
        Memory.putLong(address, nanos / 1_000_000_000L);
        Memory.putLong(address + Linux.OFFSETOF_TIMESPEC_NANOS, nanos % 1_000_000_000L);
    }
}
