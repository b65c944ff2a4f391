package dev.gyre.os;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.ProcessCalls;

import java.util.function.Supplier;

/// Children that were started and then could not be watched. They have run for a moment, which
/// nobody can take back, so the likely reasons are looked for before there is a child.
final class UnwatchableChild {
    /// Linux takes this for an answer that nobody wants.
    private static final long NOWHERE = 0;

    private UnwatchableChild() {}

    /// Watches this very process for a moment: throws if the kernel has no such thing, a sandbox
    /// forbids it, or descriptors have run out.
    static void refuseWhatCouldNotBeWatched(
            Supplier<? extends PollSyscalls> kernels, Supplier<? extends ProcessCalls> processes) {
        int self = (int) ProcessHandle.current().pid();
        Pidfd.open(kernels, processes, self).ifPresent(Pidfd::close);
    }

    /// Kills a child that nobody was told of, and takes it off the kernel's list. Its number is
    /// still its own, since nobody else takes it off.
    static void bury(ProcessCalls processes, int pid) {
        int _ = processes.kill(pid, Signal.SIGKILL.number());
        int result;
        do {
            result = processes.waitid(Linux.P_PID, pid, NOWHERE, Linux.WEXITED);
        } while (result == -Errno.EINTR);
    }
}
