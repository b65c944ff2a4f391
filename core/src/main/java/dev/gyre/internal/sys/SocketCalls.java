package dev.gyre.internal.sys;

/// The part of the seam that sockets and streams are made of. As with [PollSyscalls]: results are those of the
/// kernel itself, `-errno` for refusal, numbers as Linux has them on every system; one instance serves one
/// thread at a time; addresses are raw.
///
/// Socket addresses lie in memory as Linux lays them out (see [SocketAddresses]), whatever the system.
public interface SocketCalls {
    int socket(int domain, int type, int protocol);

    int bind(int fd, long address, int length);

    int listen(int fd, int backlog);

    /// Accepts a connection.
    ///
    /// @param lengthAddress an int: room on the way in, length on the way out; both may be zero
    int accept4(int fd, long address, long lengthAddress, int flags);

    int connect(int fd, long address, int length);

    int getsockname(int fd, long address, long lengthAddress);

    int getpeername(int fd, long address, long lengthAddress);

    int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress);

    int setsockopt(int fd, int level, int option, long valueAddress, int length);

    int shutdown(int fd, int how);

    long recv(int fd, long address, long count, int flags);

    long send(int fd, long address, long count, int flags);

    long recvmsg(int fd, long messageAddress, int flags);

    long sendmsg(int fd, long messageAddress, int flags);

    long readv(int fd, long iovecsAddress, int count);

    long writev(int fd, long iovecsAddress, int count);

    /// Sends from a file.
    ///
    /// @param offset where in the file to begin
    long sendfile(int socket, int file, long offset, long count);

    /// Moves bytes between a pipe and anything else, neither at an offset.
    long splice(int from, int to, long count, int flags);

    /// Asks at once whether a descriptor is ready.
    ///
    /// @param events bits of `POLLIN` and the like
    /// @return those that are so
    int pollOne(int fd, int events);
}
