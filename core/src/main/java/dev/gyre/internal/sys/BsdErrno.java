package dev.gyre.internal.sys;

/// Error numbers of the BSDs, as those of Linux that [Errno] knows. Up to 34 they are the same,
/// but for one; to 78 the BSDs agree with each other; beyond they went their own ways.
final class BsdErrno {
    /// What is added to a number that Linux has no name for, so that it is not taken for another
    /// error.
    static final int FOREIGN = 10_000;

    private static final int EDEADLK = 11;
    private static final int SAME_UP_TO = 34;

    /// From 35, `EAGAIN`, to 78, `ENOSYS`. Zero where Linux has none.
    private static final int[] COMMON = {
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

    private BsdErrno() {}

    static int ofMacos(int errno) {
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
            default -> common(errno);
        };
    }

    static int ofFreebsd(int errno) {
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
            default -> common(errno);
        };
    }

    private static int common(int errno) {
        if (errno == EDEADLK) {
            return 35;
        }
        if (errno <= SAME_UP_TO) {
            return errno;
        }
        int index = errno - SAME_UP_TO - 1;
        int canonical = index < COMMON.length ? COMMON[index] : 0;
        return canonical != 0 ? canonical : FOREIGN + errno;
    }
}
