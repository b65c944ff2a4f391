package dev.gyre.internal.backend.epoll;

import static dev.gyre.internal.sys.Linux.EPOLL_CTL_ADD;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_DEL;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_MOD;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_DATA;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_EVENTS;
import static dev.gyre.internal.sys.Linux.SIZEOF_EPOLL_EVENT;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;

import java.lang.foreign.MemorySegment;

/// Registers descriptors by `epoll_ctl`: one entry with one mask per descriptor.
final class EpollRegistrations extends Registrations {
    private final PollSyscalls calls;
    private final int epfd;
    private final MemorySegment event = Memory.allocate(SIZEOF_EPOLL_EVENT);

    EpollRegistrations(PollSyscalls calls, int epfd) {
        this.calls = calls;
        this.epfd = epfd;
    }

    @Override
    protected String call(boolean registering) {
        return registering ? "epoll_ctl(ADD)" : "epoll_ctl(MOD)";
    }

    /// Tries the likelier operation first, then the other one. The table does not know when an fd
    /// was closed and reused, because the kernel then removes its entry silently.
    @Override
    protected int arm(boolean registering, int fd, long data, int interest) {
        if (Readiness.isEmpty(interest)) {
            // An empty mask would still report errors and hang-ups, again and again.
            disarm(fd);
            return registering ? probe(fd) : 0;
        }
        // Reads stop short at urgent data too.
        int mask = (interest & Readiness.END) != 0 ? interest | Readiness.URGENT : interest;
        int result = control(registering ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, data, mask);
        return switch (-result) {
            case Errno.EEXIST -> control(EPOLL_CTL_MOD, fd, data, mask);
            case Errno.ENOENT -> control(EPOLL_CTL_ADD, fd, data, mask);
            default -> result;
        };
    }

    @Override
    protected void disarm(int fd) {
        int _ = calls.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
    }

    /// Fails if the kernel cannot poll the descriptor: now instead of with the first interest.
    private int probe(int fd) {
        int result = control(EPOLL_CTL_ADD, fd, fd, 0);
        return result < 0 ? result : calls.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
    }

    private int control(int operation, int fd, long data, int mask) {
        long address = event.address();
        Memory.putInt(address + OFFSETOF_EPOLL_EVENT_EVENTS, mask);
        Memory.putLong(address + OFFSETOF_EPOLL_EVENT_DATA, data);
        return calls.epollCtl(epfd, operation, fd, address);
    }
}
