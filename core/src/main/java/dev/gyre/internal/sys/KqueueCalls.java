package dev.gyre.internal.sys;

/// The seam of the kqueue backend: every native call that it makes. As with [PollSyscalls], tests put
/// their own behind it, and results are the kernel's: zero or positive, or `-errno`.
///
/// **Error numbers** in results are those of [Errno], whatever the system calls them. Those
/// inside of a `struct kevent` are the system's own: [KqueueFlavour#errno] translates.
///
/// **Threads.** One instance serves one thread at a time. Addresses are raw: the caller keeps the
/// memory alive.
public interface KqueueCalls {
    int kqueue();

    /// Makes the changes, then waits for events if there is room for any.
    ///
    /// @param timespecAddress how long to wait at most, or zero to wait for ever
    int kevent(
            int kq,
            long changesAddress,
            int changeCount,
            long eventsAddress,
            int maxEvents,
            long timespecAddress);

    /// What sort of file it is: the bits of `S_IFMT`, which are the same everywhere.
    int fileType(int fd);

    /// A pipe: the end to read from, then the end to write to.
    int pipe(long pairAddress);

    int fcntl(int fd, int command, int argument);

    long read(int fd, long address, long count);

    long write(int fd, long address, long count);

    int close(int fd);
}
