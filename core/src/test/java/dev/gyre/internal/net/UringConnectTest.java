package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.io.UringLoops;

@On("io_uring")
class UringConnectTest extends ConnectContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return UringLoops.open(config);
    }
}
