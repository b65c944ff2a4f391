package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

class SimulatedOperationEndsTest extends OperationEndsContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedLoops.open(config);
    }
}
