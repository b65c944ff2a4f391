package dev.gyre.internal.backend.epoll;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// A kernel with one descriptor, the eventfd or the epoll, that counts what is done to it and by which
/// call it was too late.
public final class CountingKernel implements PollCalls {
    /// No descriptor carries it: what the epoll has to report before something was added.
    static final long NO_EVENT = -1;

    // Shared: written by whichever actor calls the kernel, read by all.
    private final AtomicInteger writes = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final AtomicBoolean edge = new AtomicBoolean();
    private volatile boolean closed;
    private volatile long event = NO_EVENT;

    int writes() {
        return writes.get();
    }

    /// How many calls came after the close.
    public int late() {
        return late.get();
    }

    /// Whether the descriptor was given back.
    public boolean isClosed() {
        return closed;
    }

    /// What epoll_wait would do: reports the edge of the eventfd once.
    boolean takeEdge() {
        return edge.getAndSet(false);
    }

    /// What the epoll was told to carry along with the descriptor added last, as if that were ready at once.
    long event() {
        return event;
    }

    @Override
    public long write(int fd, long address, long count) {
        noteLate();
        edge.set(true);
        writes.incrementAndGet();
        noteLate();
        return count;
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        noteLate();
        if (operation == Linux.EPOLL_CTL_ADD) {
            event = Memory.getLong(eventAddress + Linux.OFFSETOF_EPOLL_EVENT_DATA);
        }
        noteLate();
        return 0;
    }

    @Override
    public int close(int fd) {
        noteLate();
        closed = true;
        return 0;
    }

    /// Asked before and after each call: a close in the middle of one is too early as well.
    private void noteLate() {
        if (closed) {
            late.incrementAndGet();
        }
    }

    @Override
    public int epollCreate1(int flags) {
        return -Errno.ENOSYS;
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        return -Errno.ENOSYS;
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        return -Errno.ENOSYS;
    }

    @Override
    public int eventfd(int initialValue, int flags) {
        return -Errno.ENOSYS;
    }

    @Override
    public int timerfdCreate(int clockId, int flags) {
        return -Errno.ENOSYS;
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        return -Errno.ENOSYS;
    }

    @Override
    public long read(int fd, long address, long count) {
        return -Errno.ENOSYS;
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        return -Errno.ENOSYS;
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        return -Errno.ENOSYS;
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        return -Errno.ENOSYS;
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        return -Errno.ENOSYS;
    }
}
