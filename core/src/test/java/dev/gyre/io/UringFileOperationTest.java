package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.uring.UringBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.Seam;

class UringFileOperationTest extends FileOperationContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return Loop.open(
                config,
                UringBackend.open(Seam.LINUX, new LinuxUringCalls(), config.eventsPerWait()));
    }
}
