package dev.gyre.internal.sys;

import java.util.Optional;

/// Which operating system and processor this is, by the JVM's own words.
public final class Platform {
    private Platform() {}

    /// Fails with words for a user, before anything native is touched.
    ///
    /// @throws UnsupportedOperationException where Gyre has no backend
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
                    "Gyre knows x86-64 and aarch64, not " + architecture);
        }
    }

    /// What a user has to know before trusting a loop on this system; empty where all of it is tested.
    public static Optional<String> caveat() {
        return caveat(System.getProperty("os.name", ""));
    }

    static Optional<String> caveat(String system) {
        return hasKqueue(system)
                ? Optional.of(
                        "on "
                                + system
                                + " timers, tasks and promises only: kqueue was tested against a"
                                + " kernel in memory, never on "
                                + system
                                + " itself, and descriptors, sockets, files, signals and child"
                                + " processes are known on Linux only")
                : Optional.empty();
    }

    /// Whether loops wait by kqueue here.
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
