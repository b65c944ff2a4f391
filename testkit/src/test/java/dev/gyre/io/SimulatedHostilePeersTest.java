package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("simulated")
class SimulatedHostilePeersTest extends HostilePeersContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }
}
