package dev.gyre.internal.backend;

/// What a kernel says of a descriptor, in bits that mean the same on every backend.
public final class Readiness {
    public static final int READ = 1;
    public static final int WRITE = 2;
    public static final int ERROR = 4;
    public static final int HANGUP = 8;

    /// The peer sends no more: what is there can be read, and then the end.
    public static final int END = 16;

    /// There is urgent data.
    public static final int URGENT = 32;

    /// All of the bits above. The rest of an event is the errno that came with [#ERROR].
    public static final int BITS = 0xFFFF;

    private static final int ERRNO_SHIFT = 16;

    private Readiness() {}

    /// Returns [#ERROR] combined with its errno, for kernels that report one.
    ///
    /// @param errno of [dev.gyre.internal.sys.Errno]; 0 if unknown
    public static int error(int errno) {
        return (errno << ERRNO_SHIFT) | ERROR;
    }

    /// Returns the errno of an event; 0 if absent.
    public static int errno(int ready) {
        return ready >>> ERRNO_SHIFT;
    }
}
