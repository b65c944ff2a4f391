package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Linux;

/// The event bits of a descriptor: the interest that is registered, and the readiness that is
/// reported. Both use the values of `epoll`, so that Linux backends pass them on unchanged.
public final class Readiness {
    public static final int READ = Linux.EPOLLIN;
    public static final int WRITE = Linux.EPOLLOUT;

    /// Urgent data.
    public static final int URGENT = Linux.EPOLLPRI;

    /// The peer has shut down its output: buffered input is still readable, then the end. An
    /// interest in it includes urgent data, at which reads stop short, where the kernel reports it.
    public static final int END = Linux.EPOLLRDHUP;

    /// Reported without interest.
    public static final int ERROR = Linux.EPOLLERR;

    /// Reported without interest.
    public static final int HANGUP = Linux.EPOLLHUP;

    /// Interest only: reports changes, not what lasts.
    public static final int EDGE = Linux.EPOLLET;

    /// Interest only: reports one event, and disarms until the next change of interest.
    public static final int ONE_SHOT = Linux.EPOLLONESHOT;

    /// The bits to be interested in.
    public static final int INTEREST = READ | WRITE | URGENT | END;

    /// The bits of an event. The rest of an event is the errno of [#ERROR].
    public static final int EVENTS = INTEREST | ERROR | HANGUP;

    private static final int ERRNO_SHIFT = 16;

    private Readiness() {}

    /// Returns whether an interest is empty: then nothing is reported, not even a hang-up.
    public static boolean isEmpty(int interest) {
        return (interest & INTEREST) == 0;
    }

    /// Returns [#ERROR] combined with its errno, for kernels that report one.
    ///
    /// @param errno of [dev.gyre.internal.sys.Errno]; 0 if unknown
    public static int error(int errno) {
        return (errno << ERRNO_SHIFT) | ERROR;
    }

    /// Returns the errno of an event; 0 if absent.
    public static int errno(int events) {
        return events >>> ERRNO_SHIFT;
    }
}
