package dev.gyre.internal.signal;

import dev.gyre.EventLoop;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.LinuxSignalCalls;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.os.Signal;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Supplier;

/// Where signals come from in this process, and which of them can be had.
///
/// @param takers who takes which signal
/// @param blocked which signals every thread blocks
/// @param calls for descriptors of signals
/// @param kernels for reading them
public record SignalSources(
        SignalRegistry takers,
        BlockedSignals blocked,
        Supplier<? extends SignalCalls> calls,
        Supplier<? extends PollSyscalls> kernels) {

    /// Those of this process, which has one handler for a signal and so one list of takers.
    public static final SignalSources OF_PROCESS =
            new SignalSources(
                    new SignalRegistry(new JvmHandlers()),
                    new BlockedSignals(LinuxSignalCalls::new, Path.of("/proc/self/task")),
                    LinuxSignalCalls::new,
                    LinuxPollSyscalls::ofThread);

    /// Those of a loop: its backend's own, which all come by descriptors, or those of the process.
    public static SignalSources of(EventLoop loop) {
        Backend backend = Loop.of(loop).backend();
        Supplier<? extends SignalCalls> own = backend.signals();
        return own == null
                ? OF_PROCESS
                : new SignalSources(
                        new SignalRegistry(new JvmHandlers()),
                        BlockedSignals.ofOneThread(own),
                        own,
                        backend.syscalls().kernels());
    }

    /// Which of the signals have to be read from a descriptor, since every thread blocks them.
    ///
    /// @throws IllegalArgumentException if one of them cannot be had; says which, why and what
    ///     instead
    long requireTakeable(Set<Signal> signals) {
        signals.forEach(UncatchableSignals::refuse);
        long blockedEverywhere = blocked.among(SignalBits.of(signals));
        Set<Signal> others = SignalBits.signals(SignalBits.of(signals) & ~blockedEverywhere);
        if (!others.isEmpty()) {
            boolean called = takers.handlersAreCalled();
            others.forEach(signal -> UncatchableSignals.refuseByHandler(signal, called));
        }
        return blockedEverywhere;
    }
}
