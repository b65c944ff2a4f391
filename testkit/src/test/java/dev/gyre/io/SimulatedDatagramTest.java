package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("simulated")
class SimulatedDatagramTest extends DatagramContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }

    @Override
    protected boolean hasUnixDatagrams() {
        return false;
    }
}
