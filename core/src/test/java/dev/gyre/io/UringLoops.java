package dev.gyre.io;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

/// Loops over io_uring, where the kernel allows it.
public final class UringLoops {
    private UringLoops() {}

    public static EventLoop open(LoopConfig config) {
        EventLoop loop = EventLoop.open(config.withBackend(BackendKind.IO_URING));
        if (loop.metrics().backendFallback().isPresent()) {
            loop.close();
            assumeTrue(false, "this kernel refuses io_uring: `gyre doctor` says why");
        }
        return loop;
    }
}
