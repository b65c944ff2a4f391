package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.LinuxProcessCalls;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SignalCalls;
import dev.gyre.os.Signal;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.Supplier;

/// The sources of signals of a real or simulated process.
///
/// @param registry the subscriptions of the process
/// @param blocked finds the signals that every thread blocks
/// @param calls opens signalfds
/// @param kernels reads them
public record SignalSources(
        SignalRegistry registry,
        BlockedSignals blocked,
        Supplier<? extends SignalCalls> calls,
        Supplier<? extends PollCalls> kernels) {

    /// The sources of this process, which has one handler per signal and so one registry.
    public static final SignalSources OF_PROCESS =
            new SignalSources(
                    new SignalRegistry(new JvmSignalHandlers()),
                    new BlockedSignals(LinuxProcessCalls::new, Path.of("/proc/self/task")),
                    LinuxProcessCalls::new,
                    LinuxPollCalls::ofThread);

    /// Returns the sources of a loop: those of a simulated backend, which has signalfds only, or
    /// those of the process.
    public static SignalSources of(EventLoop loop) {
        Backend backend = Loop.of(loop).backend();
        Supplier<? extends SignalCalls> own = backend.signals();
        return own == null
                ? OF_PROCESS
                : new SignalSources(
                        new SignalRegistry(new JvmSignalHandlers()),
                        new BlockedSignals(own, null),
                        own,
                        backend.syscalls().kernels());
    }

    /// Returns those of the signals that every thread blocks, so that a signalfd must read them.
    ///
    /// @throws IllegalArgumentException if a signal cannot be caught; names it, the reason and the
    ///     alternative
    long requireCatchable(Set<Signal> signals) {
        signals.forEach(UncatchableSignals::requireCatchable);
        long wanted = BlockedSignals.bits(signals);
        long blockedEverywhere = blocked.among(wanted);
        Set<Signal> others = BlockedSignals.signals(wanted & ~blockedEverywhere);
        if (!others.isEmpty()) {
            boolean called = registry.areHandlersCalled();
            others.forEach(signal -> UncatchableSignals.requireHandled(signal, called));
        }
        return blockedEverywhere;
    }
}
