package dev.gyre.internal.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.ProcessCalls;
import dev.gyre.internal.sys.ProcessCalls.WaitResult;
import dev.gyre.io.Descriptor;
import dev.gyre.os.Exit;
import dev.gyre.os.Signal;

import java.util.Optional;
import java.util.function.Supplier;

/// A descriptor of a process. Unlike the process id it never refers to another process.
///
/// Loop thread only.
final class Pidfd {
    private final Supplier<? extends ProcessCalls> processes;
    final Descriptor descriptor;

    private Pidfd(Supplier<? extends ProcessCalls> processes, Descriptor descriptor) {
        this.processes = processes;
        this.descriptor = descriptor;
    }

    /// Returns empty if no such process exists.
    static Optional<Pidfd> open(
            Supplier<? extends PollCalls> kernels,
            Supplier<? extends ProcessCalls> processes,
            int pid) {
        FdReaper.reclaim(); // Descriptors may have run out.
        int result = processes.get().pidfdOpen(pid, 0);
        if (result == -Errno.ESRCH) {
            return Optional.empty();
        }
        if (result < 0) {
            throw refusal(pid, -result);
        }
        return Optional.of(new Pidfd(processes, OpenDescriptor.fresh(kernels, result, true)));
    }

    private static SystemCallException refusal(int pid, int errno) {
        String hint =
                switch (errno) {
                    case Errno.ENOSYS -> "watching a process needs Linux 5.4 or newer";
                    case Errno.EINVAL, Errno.ENOENT ->
                            "the id is that of a thread, not of a process";
                    default -> Errno.hint("pidfd_open", errno);
                };
        return new SystemCallException("pidfd_open", errno, "cannot watch process " + pid, hint);
    }

    void close() {
        descriptor.close();
    }

    /// Returns the exit without reaping the process; empty if it has not exited.
    Optional<Exit> peekExit() {
        return waitFor(Linux.WNOWAIT);
    }

    /// Reaps the process. Returns empty if it has not exited.
    Optional<Exit> reap() {
        return waitFor(0);
    }

    private Optional<Exit> waitFor(int options) {
        WaitResult found = new WaitResult();
        int all = Linux.WEXITED | Linux.WNOHANG | options;
        int fd = descriptor.fd();
        int result;
        do {
            result = processes.get().waitid(Linux.P_PIDFD, fd, found.address(), all);
        } while (result == -Errno.EINTR);
        if (result == -Errno.ECHILD) {
            return Optional.of(new Exit.Unknown());
        }
        Errno.require("waitid(P_PIDFD)", result, descriptor.fd());
        return found.pid() == 0 ? Optional.empty() : Optional.of(exit(found));
    }

    private static Exit exit(WaitResult found) {
        return switch (found.code()) {
            case Linux.CLD_EXITED -> new Exit.Code(found.status());
            case Linux.CLD_KILLED -> new Exit.Killed(found.status(), false);
            case Linux.CLD_DUMPED -> new Exit.Killed(found.status(), true);
            default -> new Exit.Unknown();
        };
    }

    /// Returns false if the process has exited.
    boolean signal(Signal signal) {
        int result = processes.get().pidfdSendSignal(descriptor.fd(), signal.number(), 0);
        if (result == -Errno.ESRCH) {
            return false;
        }
        Errno.require("pidfd_send_signal", result, descriptor.fd());
        return true;
    }
}
