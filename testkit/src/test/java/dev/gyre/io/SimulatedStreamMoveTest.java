package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.internal.SimulatedKernel;

@On("simulated")
class SimulatedStreamMoveTest extends StreamMoveContract {
    private final SimulatedKernel kernel = new SimulatedKernel(1);

    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config, kernel);
    }

    @Override
    protected boolean hasRealFiles() {
        return false;
    }
}
