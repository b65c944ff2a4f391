package dev.gyre.internal.backend;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLPRI;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;

/// What Linux says of a descriptor, in the words of [Ready]: epoll and the polls of io_uring have the same bits.
public final class PollBits {
    private PollBits() {}

    public static int ready(int kernelBits) {
        int ready = 0;
        if ((kernelBits & EPOLLIN) != 0) {
            ready |= Readiness.READ;
        }
        if ((kernelBits & EPOLLOUT) != 0) {
            ready |= Readiness.WRITE;
        }
        if ((kernelBits & EPOLLERR) != 0) {
            ready |= Readiness.ERROR;
        }
        if ((kernelBits & EPOLLHUP) != 0) {
            ready |= Readiness.HANGUP;
        }
        if ((kernelBits & EPOLLRDHUP) != 0) {
            ready |= Readiness.END;
        }
        if ((kernelBits & EPOLLPRI) != 0) {
            ready |= Readiness.URGENT;
        }
        return ready;
    }
}
