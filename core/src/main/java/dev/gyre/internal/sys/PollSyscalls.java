package dev.gyre.internal.sys;

/// The seam: every native call that Gyre makes goes through an instance of this. Tests put their own
/// behind it to return any value or errno; while only [LinuxPollSyscalls] is loaded the JIT sees one
/// implementation and calls it directly, so the seam costs nothing.
///
/// **Results** are those of the kernel itself, before libc: zero or positive for success, and
/// `-errno` for refusal. So there is no errno to read afterwards and nothing to forget.
///
/// **Threads.** One instance serves one thread at a time, because it owns the memory that errno is
/// captured in. Whoever shares one guards it with a lock. Addresses are raw: the caller keeps the memory
/// alive.
public interface PollSyscalls {
    int epollCreate1(int flags);

    int epollCtl(int epfd, int operation, int fd, long eventAddress);

    int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis);

    /// `-ENOSYS` where libc has no such call.
    int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress);

    int eventfd(int initialValue, int flags);

    int timerfdCreate(int clockId, int flags);

    int timerfdSettime(int fd, int flags, long newValueAddress);

    long read(int fd, long address, long count);

    long write(int fd, long address, long count);

    int close(int fd);

    int fcntl(int fd, int command, int argument);

    int pipe2(long pairAddress, int flags);

    int socketpair(int domain, int type, int protocol, long pairAddress);

    int getrlimit(int resource, long rlimitAddress);
}
