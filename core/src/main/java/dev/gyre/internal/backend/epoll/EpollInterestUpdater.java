package dev.gyre.internal.backend.epoll;

import static dev.gyre.internal.sys.Linux.EPOLL_CTL_ADD;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_DEL;
import static dev.gyre.internal.sys.Linux.EPOLL_CTL_MOD;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_DATA;
import static dev.gyre.internal.sys.Linux.OFFSETOF_EPOLL_EVENT_EVENTS;
import static dev.gyre.internal.sys.Linux.SIZEOF_EPOLL_EVENT;

import dev.gyre.internal.backend.InterestUpdater;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;

import java.lang.foreign.MemorySegment;

/// Registrations as epoll knows them: one entry a descriptor, with a mask.
final class EpollInterestUpdater implements InterestUpdater {
    private final PollSyscalls kernel;
    private final int epfd;
    private final MemorySegment event = Memory.allocate(SIZEOF_EPOLL_EVENT);

    EpollInterestUpdater(PollSyscalls kernel, int epfd) {
        this.kernel = kernel;
        this.epfd = epfd;
    }

    @Override
    public String call(boolean registering) {
        return registering ? "epoll_ctl(ADD)" : "epoll_ctl(MOD)";
    }

    /// Tells the kernel, by the operation that is likelier to be right, and by the other one if
    /// it is not: our table cannot tell when a number was closed and opened again, because the
    /// kernel then forgot it silently.
    @Override
    public int arm(boolean registering, int fd, long data, int interest) {
        if (Readiness.isEmpty(interest)) {
            // Even with an empty mask the kernel would report errors and hang-ups, for ever.
            disarm(fd);
            return registering ? probe(fd) : 0;
        }
        int result = control(registering ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, data, interest);
        return switch (-result) {
            case Errno.EEXIST -> control(EPOLL_CTL_MOD, fd, data, interest);
            case Errno.ENOENT -> control(EPOLL_CTL_ADD, fd, data, interest);
            default -> result;
        };
    }

    @Override
    public void disarm(int fd) {
        int _ = kernel.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
    }

    /// Whether the kernel can poll it at all: better known now than when interest comes.
    private int probe(int fd) {
        int result = control(EPOLL_CTL_ADD, fd, fd, 0);
        return result < 0 ? result : kernel.epollCtl(epfd, EPOLL_CTL_DEL, fd, event.address());
    }

    private int control(int operation, int fd, long data, int interest) {
        long address = event.address();
        Memory.putInt(address + OFFSETOF_EPOLL_EVENT_EVENTS, kernelBits(interest));
        Memory.putLong(address + OFFSETOF_EPOLL_EVENT_DATA, data);
        return kernel.epollCtl(epfd, operation, fd, address);
    }

    /// Adds urgent data to an interest in the end: reads stop short at both.
    private static int kernelBits(int interest) {
        return (interest & Readiness.END) != 0 ? interest | Readiness.URGENT : interest;
    }
}
