package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

@On("simulated")
class SimulatedHttpClientStreamsTest extends HttpClientStreamsContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    /// Its kernel takes less.
    @Override
    protected int pieces() {
        return (3 << 20) / PIECE;
    }
}
