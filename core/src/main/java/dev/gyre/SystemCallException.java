package dev.gyre;

import dev.gyre.internal.sys.Errno;

/// Thrown if the kernel refuses a call unexpectedly. Expected outcomes, such as would-block or end
/// of stream, are values.
///
/// An exception of [Kind#CONNECTION] for a descriptor has no stack trace, because the peer caused
/// it. A server may see thousands per second.
public final class SystemCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// The descriptor number of a call without a descriptor.
    public static final int NO_FD = -1;

    private final String call;
    private final int errno;
    private final int fd;

    /// Creates an exception for a call.
    ///
    /// @param call the call as in the manual, with the operation if it has several:
    ///     `epoll_ctl(ADD)`
    /// @param errno the error number, positive
    /// @param fd the descriptor of the call, or [#NO_FD]
    public SystemCallException(String call, int errno, int fd) {
        super(describe(call, errno, fd, Errno.hint(call, errno)), null, true, isOurs(errno));
        this.call = call;
        this.errno = errno;
        this.fd = fd;
    }

    /// Creates an exception that names the purpose of the call.
    ///
    /// @param attempt the failed action: `cannot start 'worker'`
    /// @param hint the remedy for a user; empty if absent
    public SystemCallException(String call, int errno, String attempt, String hint) {
        super(describe(attempt, errno, NO_FD, hint));
        this.call = call;
        this.errno = errno;
        this.fd = NO_FD;
    }

    /// Returns the refused call.
    public String call() {
        return call;
    }

    /// Returns the error number.
    public int errno() {
        return errno;
    }

    /// Returns the name of the error, such as `EMFILE`.
    public String errnoName() {
        return Errno.name(errno);
    }

    /// Returns the descriptor of the call, or [#NO_FD].
    public int fd() {
        return fd;
    }

    /// Returns the category of the error, which determines the remedy.
    public Kind kind() {
        return Errno.kind(errno);
    }

    private static boolean isOurs(int errno) {
        return Errno.kind(errno) != Kind.CONNECTION;
    }

    private static String describe(String call, int errno, int fd, String hint) {
        StringBuilder text = new StringBuilder(call);
        if (fd != NO_FD) {
            text.append(" on descriptor ").append(fd);
        }
        text.append(": ").append(Errno.name(errno)).append(" (").append(errno).append(')');
        if (!hint.isEmpty()) {
            text.append(": ").append(hint);
        }
        return text.toString();
    }

    /// The categories of errors, each with one policy.
    public enum Kind {
        /// Transient: retry the call. Gyre does so itself, so this kind is rarely seen.
        RETRYABLE,
        /// The peer or the network path is gone: close this connection only.
        CONNECTION,
        /// A resource is exhausted: back off, shed load, or raise a limit. Never retry in a tight
        /// loop.
        RESOURCE,
        /// The call was invalid: a defect in the program. The stack trace shows where.
        PROGRAM
    }
}
