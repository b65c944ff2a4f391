package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// The process's limits, asked of the kernel itself: `/proc` cannot be opened when descriptors have run
/// out, which is just when the answer is wanted.
public final class Limits {
    /// One limit.
    ///
    /// @param current the limit in force
    /// @param hard how far the process itself may raise it
    public record Limit(long current, long hard) {}

    private Limits() {}

    /// How many descriptors the process may have open; -1 in both places if the kernel does not say.
    public static Limit openFiles() {
        return openFiles(new LinuxPollSyscalls());
    }

    /// Returns the same limit from the given kernel.
    static Limit openFiles(PollSyscalls kernel) {
        MemorySegment rlimit = Memory.allocate(Linux.SIZEOF_RLIMIT);
        try {
            long address = rlimit.address();
            int result = kernel.getrlimit(Linux.RLIMIT_NOFILE, address);
            return result == 0
                    ? new Limit(Memory.getLong(address), Memory.getLong(address + Long.BYTES))
                    : new Limit(-1, -1);
        } finally {
            Reference.reachabilityFence(rlimit);
        }
    }
}
