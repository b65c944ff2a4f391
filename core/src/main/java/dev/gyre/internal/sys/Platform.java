package dev.gyre.internal.sys;

import java.util.Optional;

/// The operating system and the processor, as the JVM reports them.
public final class Platform {
    private Platform() {}

    /// Checks the platform before the first native call.
    ///
    /// @throws UnsupportedOperationException if Gyre has no backend for it
    public static void requireSupported() {
        requireSupported(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
    }

    static void requireSupported(String system, String architecture) {
        if (!system.equals("Linux") && !hasKqueue(system)) {
            throw new UnsupportedOperationException(
                    "Gyre has no backend for "
                            + system
                            + ": it needs Linux, or kqueue of macOS or FreeBSD");
        }
        if (!isX86(architecture) && !architecture.equals("aarch64")) {
            throw new UnsupportedOperationException(
                    "Gyre supports x86-64 and aarch64, not " + architecture);
        }
    }

    /// Returns the limitations of this system; empty if it is fully tested.
    public static Optional<String> caveat() {
        return caveat(System.getProperty("os.name", ""));
    }

    static Optional<String> caveat(String system) {
        return hasKqueue(system)
                ? Optional.of(
                        "on "
                                + system
                                + " timers, tasks and promises only: kqueue was tested against a"
                                + " simulated kernel, never on "
                                + system
                                + " itself, and descriptors, sockets, files, signals and child"
                                + " processes are supported on Linux only")
                : Optional.empty();
    }

    public static boolean hasKqueue() {
        return hasKqueue(System.getProperty("os.name", ""));
    }

    private static boolean hasKqueue(String system) {
        return system.equals("Mac OS X") || system.equals("FreeBSD");
    }

    static boolean isX86() {
        return isX86(System.getProperty("os.arch", ""));
    }

    private static boolean isX86(String architecture) {
        return architecture.equals("amd64") || architecture.equals("x86_64");
    }
}
