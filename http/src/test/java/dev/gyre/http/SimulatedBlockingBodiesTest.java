package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

@On("simulated")
class SimulatedBlockingBodiesTest extends BlockingBodiesContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }
}
