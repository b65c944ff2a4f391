package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("simulated")
class SimulatedTraceTest extends TraceContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }
}
