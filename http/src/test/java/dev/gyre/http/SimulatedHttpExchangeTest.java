package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.testkit.SimulatedWorld;

class SimulatedHttpExchangeTest extends HttpExchangeContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }
}
