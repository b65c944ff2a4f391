package dev.gyre.os;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.ProcessCalls;
import dev.gyre.internal.sys.WaitResult;
import dev.gyre.io.Descriptor;

import java.lang.ref.Reference;
import java.util.Optional;
import java.util.function.Supplier;

/// A descriptor that means one process and, unlike its number, never another.
///
/// Loop thread only.
final class Pidfd {
    private final Supplier<? extends ProcessCalls> processes;
    private final Descriptor descriptor;

    private Pidfd(Supplier<? extends ProcessCalls> processes, Descriptor descriptor) {
        this.processes = processes;
        this.descriptor = descriptor;
    }

    /// Opens one for a process.
    ///
    /// @return empty if there is no such process
    /// @throws SystemCallException if the kernel refuses otherwise
    static Optional<Pidfd> open(
            Supplier<? extends PollSyscalls> kernels,
            Supplier<? extends ProcessCalls> processes,
            int pid) {
        FdReaper.reclaim(); // Numbers may have run out.
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
                    case Errno.ENOSYS -> "processes are watched by what came with Linux 5.4";
                    case Errno.EINVAL, Errno.ENOENT -> "it is a thread and not a process";
                    default -> Errno.hint("pidfd_open", errno);
                };
        return new SystemCallException("pidfd_open", errno, "cannot watch process " + pid, hint);
    }

    Descriptor descriptor() {
        return descriptor;
    }

    boolean isOpen() {
        return descriptor.isOpen();
    }

    void close() {
        descriptor.close();
    }

    /// How the process ended, and leaves it to be asked again.
    ///
    /// @return empty if it has not ended
    Optional<Exit> look() {
        return waitFor(Linux.WNOWAIT);
    }

    /// How the process ended, and lets the kernel forget it.
    ///
    /// @return empty if it has not ended
    Optional<Exit> reap() {
        return waitFor(0);
    }

    private Optional<Exit> waitFor(int options) {
        WaitResult found = new WaitResult();
        int result;
        try {
            do {
                result =
                        processes
                                .get()
                                .waitid(
                                        Linux.P_PIDFD,
                                        descriptor.fd(),
                                        found.address(),
                                        Linux.WEXITED | Linux.WNOHANG | options);
            } while (result == -Errno.EINTR);
        } finally {
            Reference.reachabilityFence(found);
        }
        if (result == -Errno.ECHILD) {
            return Optional.of(new Exit.Unknown());
        }
        if (result < 0) {
            throw new SystemCallException("waitid(P_PIDFD)", -result, descriptor.fd());
        }
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

    /// Sends a signal.
    ///
    /// @return false if the process is gone
    boolean signal(Signal signal) {
        int result = processes.get().pidfdSendSignal(descriptor.fd(), signal.number(), 0);
        if (result == -Errno.ESRCH) {
            return false;
        }
        if (result < 0) {
            throw new SystemCallException("pidfd_send_signal", -result, descriptor.fd());
        }
        return true;
    }
}
