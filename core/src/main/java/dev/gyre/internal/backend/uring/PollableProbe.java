package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;

import java.lang.foreign.MemorySegment;

/// Whether a descriptor can be polled at all. A ring polls anything, and calls what cannot be polled always
/// ready; only an epoll says no. The kind of file does not tell: some regular files of `/proc` can be
/// polled, and some devices cannot.
///
/// Guarded by the lock of [PollTable].
final class PollableProbe {
    static final String CALL = "epoll_ctl(ADD)";

    private final PollSyscalls kernel;
    private final int epfd;
    private final MemorySegment event = Memory.allocate(Linux.SIZEOF_EPOLL_EVENT);

    PollableProbe(PollSyscalls kernel, int epfd) {
        this.kernel = kernel;
        this.epfd = epfd;
    }

    static PollableProbe open(PollSyscalls kernel) {
        int epfd = kernel.epollCreate1(Linux.EPOLL_CLOEXEC);
        if (epfd < 0) {
            throw new SystemCallException("epoll_create1", -epfd, SystemCallException.NO_FD);
        }
        return new PollableProbe(kernel, epfd);
    }

    /// Asks.
    ///
    /// @return zero or `-errno`
    int examine(int fd) {
        int result = kernel.epollCtl(epfd, Linux.EPOLL_CTL_ADD, fd, event.address());
        if (result == 0) {
            int _ = kernel.epollCtl(epfd, Linux.EPOLL_CTL_DEL, fd, event.address());
        }
        return result;
    }

    void close() {
        kernel.close(epfd);
    }
}
