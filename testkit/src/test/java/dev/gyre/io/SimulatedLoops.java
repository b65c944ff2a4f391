package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.loop.Loop;
import dev.gyre.testkit.internal.SimulatedBackend;
import dev.gyre.testkit.internal.SimulatedKernel;

/// Loops over a simulated kernel, for the contracts of operations.
final class SimulatedLoops {
    private SimulatedLoops() {}

    static EventLoop open(LoopConfig config) {
        return open(config, new SimulatedKernel(1));
    }

    static EventLoop open(LoopConfig config, SimulatedKernel kernel) {
        return Loop.open(
                config.withExecutor(kernel::runOutside),
                new SimulatedBackend(kernel, config.eventsPerWait(), config.maxWait().toNanos()));
    }
}
