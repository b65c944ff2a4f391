package dev.gyre.bench;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import java.lang.foreign.MemorySegment;

/// An epoll with one eventfd, called through the same interface as by Gyre's backend, with nothing
/// around it: the floor for Java.
final class BareEpoll implements AutoCloseable {
    private static final int EVENTS = 1_024;

    // One each for the waiting and the waking thread: an instance serves one thread at a time.
    private final PollCalls waiting = new LinuxPollCalls();
    private final PollCalls waking = new LinuxPollCalls();
    private final MemorySegment events = Memory.allocate((long) Linux.SIZEOF_EPOLL_EVENT * EVENTS);
    private final MemorySegment one = Memory.allocate(Long.BYTES);
    private final int epfd = check("epoll_create1", waiting.epollCreate1(Linux.EPOLL_CLOEXEC));
    private final int eventfd =
            check("eventfd", waiting.eventfd(0, Linux.EFD_CLOEXEC | Linux.EFD_NONBLOCK));

    BareEpoll() {
        Memory.putLong(one.address(), 1);
        Memory.putInt(
                events.address() + Linux.OFFSETOF_EPOLL_EVENT_EVENTS,
                Linux.EPOLLIN | Linux.EPOLLET);
        Memory.putLong(events.address() + Linux.OFFSETOF_EPOLL_EVENT_DATA, eventfd);
        check("epoll_ctl", waiting.epollCtl(epfd, Linux.EPOLL_CTL_ADD, eventfd, events.address()));
    }

    /// Polls without waiting.
    ///
    /// @return the number of events
    int pollNow() {
        return check("epoll_wait", waiting.epollWait(epfd, events.address(), EVENTS, 0));
    }

    /// Waits as long as it takes.
    ///
    /// @return the number of events; also 0 after a signal
    int pollForEver() {
        int result = waiting.epollWait(epfd, events.address(), EVENTS, -1);
        return result == -Errno.EINTR ? 0 : check("epoll_wait", result);
    }

    void wake() {
        check("write", (int) waking.write(eventfd, one.address(), Long.BYTES));
    }

    @Override
    public void close() {
        waiting.close(epfd);
        waiting.close(eventfd);
    }

    private static int check(String call, int result) {
        if (result < 0) {
            throw new SystemCallException(call, -result, SystemCallException.NO_FD);
        }
        return result;
    }
}
