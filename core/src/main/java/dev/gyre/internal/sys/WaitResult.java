package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// Room for what `waitid` says of a process, zeroed: with `WNOHANG` it may say nothing.
public final class WaitResult {
    private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_SIGINFO);

    public long address() {
        return memory.address();
    }

    /// Which process has ended; 0 if none has.
    public int pid() {
        return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_PID);
    }

    /// How it ended: `CLD_EXITED`, `CLD_KILLED` or `CLD_DUMPED`.
    public int code() {
        return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_CODE);
    }

    /// The exit status or the signal's number.
    public int status() {
        return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_SIGINFO_STATUS);
    }
}
