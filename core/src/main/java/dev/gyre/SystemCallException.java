package dev.gyre;

import dev.gyre.internal.sys.Errno;

/// The kernel refused a call, in a way the caller did not have to expect. Expected outcomes, such as
/// would-block or end of stream, are values and never arrive as this exception.
///
/// That a connection was reset or is gone ([Kind#CONNECTION]) is the doing of a peer, and no line of this program is
/// where it came from: such an exception of a call on a descriptor has no stack trace. A server may see thousands in
/// a second.
public final class SystemCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /// The descriptor of a call that has none.
    public static final int NO_FD = -1;

    private final String call;
    private final int errno;
    private final int fd;

    /// Describes a refused call.
    ///
    /// @param call the call as in the manual, with the operation where one call has several:
    ///     `epoll_ctl(ADD)`
    /// @param errno the error number, positive
    /// @param fd the descriptor it was about, or [#NO_FD]
    public SystemCallException(String call, int errno, int fd) {
        super(describe(call, errno, fd, Errno.hint(call, errno)), null, true, isOurs(errno));
        this.call = call;
        this.errno = errno;
        this.fd = fd;
    }

    /// Describes a refused call by what it was for.
    ///
    /// @param attempt what could not be done, in words: `cannot start 'worker'`
    /// @param hint what a user can do about it; empty if there is nothing to say
    public SystemCallException(String call, int errno, String attempt, String hint) {
        super(describe(attempt, errno, NO_FD, hint));
        this.call = call;
        this.errno = errno;
        this.fd = NO_FD;
    }

    /// The call that was refused.
    public String call() {
        return call;
    }

    /// The error number.
    public int errno() {
        return errno;
    }

    /// The error's name, such as `EMFILE`.
    public String errnoName() {
        return Errno.name(errno);
    }

    /// The descriptor the call was about, or [#NO_FD].
    public int fd() {
        return fd;
    }

    /// What sort of trouble it is, and so what to do about it.
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

    /// The four sorts of refusal, each with one policy.
    public enum Kind {
        /// Passing: try the call again. Gyre does so itself, so this kind is rarely seen.
        RETRYABLE,
        /// The peer or the way to it is gone: close this connection, leave all others alone.
        CONNECTION,
        /// Something has run out: back off, shed load, raise a limit. Never retried in a tight loop.
        RESOURCE,
        /// The call was wrong: a defect in the program. It is reported where it happened.
        PROGRAM
    }
}
