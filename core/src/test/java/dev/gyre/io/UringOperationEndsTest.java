package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.SyscallFactories;

@On("io_uring")
class UringOperationEndsTest extends OperationEndsContract {
    @Override
    protected EventLoop open(LoopConfig config) {
        return Loop.open(
                config,
                IoUringBackend.open(
                        SyscallFactories.LINUX, new LinuxUringCalls(), config.eventsPerWait()));
    }
}
