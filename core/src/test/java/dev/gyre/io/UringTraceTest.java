package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("io_uring")
class UringTraceTest extends TraceContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return UringLoops.open(config);
    }
}
