package dev.gyre.internal.base;

/// Holds the logger, created at its first use. Classes that every loop needs have no logger of
/// their own. Creating the first logger of a process searches all modules for a provider and reads
/// a configuration, which would delay opening a loop.
public final class Log {
    public static final System.Logger LOG = System.getLogger("dev.gyre");

    private Log() {}
}
