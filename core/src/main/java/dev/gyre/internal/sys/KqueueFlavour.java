package dev.gyre.internal.sys;

import java.util.Locale;

/// In what the systems that have kqueue differ.
///
/// The system's own is taken by itself. The property `gyre.kqueue.flavour` names another one, by
/// its constant in any case, for a kqueue that comes from a library: see [BsdKqueueCalls].
public enum KqueueFlavour {
    MACOS(32, -10, -15, 4, 0x4),

    /// Since FreeBSD 12, which made the struct longer.
    FREEBSD(64, -11, 0, 24, 0x4),

    /// libkqueue: kqueue on Linux, in user space. Numbers of errors and files are those of Linux.
    LIBKQUEUE(32, -11, 0, Platform.isX86() ? 24 : 16, Linux.O_NONBLOCK);

    /// The property that names a flavour.
    public static final String PROPERTY = "gyre.kqueue.flavour";

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

    /// The flavour to use here.
    ///
    /// @throws UnsupportedOperationException on a system that has no kqueue, if none is named
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
                    PROPERTY + " is neither macos, freebsd nor libkqueue: " + named);
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

    /// `EVFILT_EXCEPT`, or zero where urgent data is told to nobody.
    public int exceptFilter() {
        return exceptFilter;
    }

    /// `O_NONBLOCK`.
    public int nonBlocking() {
        return nonBlocking;
    }

    /// The number that [Errno] has for an error of this system.
    public int errno(int systemErrno) {
        return switch (this) {
            case MACOS -> BsdErrno.ofMacos(systemErrno);
            case FREEBSD -> BsdErrno.ofFreebsd(systemErrno);
            case LIBKQUEUE -> systemErrno;
        };
    }

    int offsetofStatMode() {
        return offsetofStatMode;
    }
}
