package dev.gyre.internal.sys;

/// The system calls of the kqueue backend. Results, threads and addresses are as in [PollCalls].
///
/// **Error numbers** in results are those of [Errno] on every system. Those inside a `struct
/// kevent` are the system's own: [KqueueFlavour#errno] translates them.
public interface KqueueCalls {
    int kqueue();

    /// Applies the changes, then waits for events if `maxEvents` is positive.
    ///
    /// @param timespecAddress the timeout, or zero to wait indefinitely
    int kevent(
            int kq,
            long changesAddress,
            int changeCount,
            long eventsAddress,
            int maxEvents,
            long timespecAddress);

    /// Returns the file type: the bits of `S_IFMT`, which are the same on every system.
    int fileType(int fd);

    /// Creates a pipe: the end to read from, then the end to write to.
    int pipe(long pairAddress);

    int fcntl(int fd, int command, int argument);

    long read(int fd, long address, long count);

    long write(int fd, long address, long count);

    int close(int fd);
}
