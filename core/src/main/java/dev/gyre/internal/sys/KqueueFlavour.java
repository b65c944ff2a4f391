package dev.gyre.internal.sys;

import java.util.Locale;

/// The differences between systems with kqueue.
///
/// The default is the flavour of the operating system. The property `gyre.kqueue.flavour` selects
/// another one by its name in any case, for a kqueue from a library: see [BsdKqueueCalls].
///
/// **Error numbers** are mapped to those of Linux in [Errno]. Up to 34 the BSDs and Linux agree,
/// but for one. Up to 78 the BSDs agree with each other. Beyond that they differ.
public enum KqueueFlavour {
    MACOS(32, -10, -15, 4, 0x4),

    /// Since FreeBSD 12, which made the struct longer.
    FREEBSD(64, -11, 0, 24, 0x4),

    /// libkqueue: kqueue on Linux, in user space. Numbers of errors and files are those of Linux.
    LIBKQUEUE(32, -11, 0, Platform.isX86() ? 24 : 16, Linux.O_NONBLOCK);

    public static final String PROPERTY = "gyre.kqueue.flavour";

    /// The offset of numbers without an equivalent on Linux, so that they match no other error.
    static final int FOREIGN_ERRNO = 10_000;

    private static final int EDEADLK = 11;
    private static final int MAX_SAME_ERRNO = 34;

    /// From 35, `EAGAIN`, to 78, `ENOSYS`. Zero if Linux has no equivalent.
    private static final int[] COMMON_ERRNOS = {
        11, 115, 114, 88, 89, // EAGAIN EINPROGRESS EALREADY ENOTSOCK EDESTADDRREQ
        90, 91, 92, 93, 94, // EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT
        95, 96, 97, 98, 99, // EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL
        100, 101, 102, 103, 104, // ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
        105, 106, 107, 108, 109, // ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS
        110, 111, 40, 36, 112, // ETIMEDOUT ECONNREFUSED ELOOP ENAMETOOLONG EHOSTDOWN
        113, 39, 0, 87, 122, // EHOSTUNREACH ENOTEMPTY EPROCLIM EUSERS EDQUOT
        116, 66, 0, 0, 0, 0, 0, // ESTALE EREMOTE, and five of remote procedure calls
        37, 38, // ENOLCK ENOSYS
    };

    private final int sizeofKevent;
    private final int userFilter;
    private final int exceptFilter;
    private final int offsetofStatMode;
    private final int nonBlocking;

    KqueueFlavour(
            int sizeofKevent,
            int userFilter,
            int exceptFilter,
            int offsetofStatMode,
            int nonBlocking) {
        this.sizeofKevent = sizeofKevent;
        this.userFilter = userFilter;
        this.exceptFilter = exceptFilter;
        this.offsetofStatMode = offsetofStatMode;
        this.nonBlocking = nonBlocking;
    }

    /// Returns the flavour to use.
    ///
    /// @throws UnsupportedOperationException if none is named and the system has no kqueue
    public static KqueueFlavour choose() {
        return choose(System.getProperty(PROPERTY, ""), System.getProperty("os.name", ""));
    }

    static KqueueFlavour choose(String named, String system) {
        if (!named.isEmpty()) {
            for (KqueueFlavour flavour : values()) {
                if (flavour.name().equals(named.toUpperCase(Locale.ROOT))) {
                    return flavour;
                }
            }
            throw new IllegalArgumentException(
                    PROPERTY + " must be macos, freebsd or libkqueue, but is " + named);
        }
        return switch (system) {
            case "Mac OS X" -> MACOS;
            case "FreeBSD" -> FREEBSD;
            default -> throw new UnsupportedOperationException(system + " has no kqueue");
        };
    }

    public int sizeofKevent() {
        return sizeofKevent;
    }

    /// `EVFILT_USER`.
    public int userFilter() {
        return userFilter;
    }

    /// `EVFILT_EXCEPT`, or zero if the system does not report urgent data.
    public int exceptFilter() {
        return exceptFilter;
    }

    /// `O_NONBLOCK`.
    public int nonBlocking() {
        return nonBlocking;
    }

    /// Returns the number in [Errno] of an error of this system.
    public int errno(int systemErrno) {
        return switch (this) {
            case MACOS -> macosErrno(systemErrno);
            case FREEBSD -> freebsdErrno(systemErrno);
            case LIBKQUEUE -> systemErrno;
        };
    }

    private static int macosErrno(int errno) {
        return switch (errno) {
            case 84 -> 75; // EOVERFLOW
            case 89 -> 125; // ECANCELED
            case 90 -> 43; // EIDRM
            case 91 -> 42; // ENOMSG
            case 92 -> 84; // EILSEQ
            case 94 -> 74; // EBADMSG
            case 95 -> 72; // EMULTIHOP
            case 96 -> 61; // ENODATA
            case 97 -> 67; // ENOLINK
            case 99 -> 63; // ENOSR
            case 100 -> 71; // EPROTO
            case 101 -> 62; // ETIME
            case 102 -> 95; // EOPNOTSUPP
            case 104 -> 131; // ENOTRECOVERABLE
            case 105 -> 130; // EOWNERDEAD
            default -> commonErrno(errno);
        };
    }

    private static int freebsdErrno(int errno) {
        return switch (errno) {
            case 82 -> 43; // EIDRM
            case 83 -> 42; // ENOMSG
            case 84 -> 75; // EOVERFLOW
            case 85 -> 125; // ECANCELED
            case 86 -> 84; // EILSEQ
            case 89 -> 74; // EBADMSG
            case 90 -> 72; // EMULTIHOP
            case 91 -> 67; // ENOLINK
            case 92 -> 71; // EPROTO
            case 95 -> 131; // ENOTRECOVERABLE
            case 96 -> 130; // EOWNERDEAD
            default -> commonErrno(errno);
        };
    }

    private static int commonErrno(int errno) {
        if (errno == EDEADLK) {
            return 35;
        }
        if (errno <= MAX_SAME_ERRNO) {
            return errno;
        }
        int index = errno - MAX_SAME_ERRNO - 1;
        int canonical = index < COMMON_ERRNOS.length ? COMMON_ERRNOS[index] : 0;
        return canonical != 0 ? canonical : FOREIGN_ERRNO + errno;
    }

    int offsetofStatMode() {
        return offsetofStatMode;
    }
}
