package dev.gyre.internal.sys;

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
        if (!system.equals("Linux")) {
            throw new UnsupportedOperationException(
                    "Gyre has no backend for " + system + " yet: it needs Linux");
        }
        if (!isX86(architecture) && !architecture.equals("aarch64")) {
            throw new UnsupportedOperationException(
                    "Gyre knows Linux on x86-64 and aarch64, not on " + architecture);
        }
    }

    static boolean isX86() {
        return isX86(System.getProperty("os.arch", ""));
    }

    private static boolean isX86(String architecture) {
        return architecture.equals("amd64") || architecture.equals("x86_64");
    }
}
