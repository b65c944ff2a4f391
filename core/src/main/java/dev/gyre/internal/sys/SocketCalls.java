package dev.gyre.internal.sys;

/// The system calls of sockets. Results, threads and addresses are as in [PollCalls]. Constants
/// and socket addresses have the values and the layout of Linux on every system: see
/// [SocketAddresses].
public interface SocketCalls {
    int socket(int domain, int type, int protocol);

    int bind(int fd, long address, int length);

    int listen(int fd, int backlog);

    /// The length is an int: the capacity on entry, the length on return. Both addresses may be
    /// zero.
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

    /// The offset is the first byte of the file to send.
    long sendfile(int socket, int file, long offset, long count);

    /// Moves bytes between a pipe and any descriptor, neither at an offset.
    long splice(int from, int to, long count, int flags);

    /// Polls a descriptor without blocking.
    ///
    /// @param events bits of `POLLIN` and so on
    /// @return the ready events
    int pollOne(int fd, int events);
}
