package dev.gyre.internal.base;

/// Where the logger is made, the first time that there is something to say. No class that every loop needs has one
/// of its own: the first logger of a process looks through all modules for a provider and reads a configuration, and
/// a loop that opens would wait for it.
public final class Log {
    public static final System.Logger LOG = System.getLogger("dev.gyre");

    private Log() {}
}
