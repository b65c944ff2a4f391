package dev.gyre.internal.net;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;

@On("io_uring")
class UringConnectTest extends ConnectContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        EventLoop loop = EventLoop.open(config.withBackend(BackendKind.IO_URING));
        if (loop.metrics().backendFallback().isPresent()) {
            loop.close();
            assumeTrue(false, "this kernel refuses io_uring: `gyre doctor` says why");
        }
        return loop;
    }
}
