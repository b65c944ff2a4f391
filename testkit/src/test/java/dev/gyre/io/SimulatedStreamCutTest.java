package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("simulated")
class SimulatedStreamCutTest extends StreamCutContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }

    @Override
    protected int heldByAProxy() {
        return 20_000; // The simulated sockets have smaller buffers.
    }
}
