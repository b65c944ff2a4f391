package dev.gyre.conformance;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.opentest4j.TestAbortedException;

@On("io_uring")
class UringConformanceTest extends LinuxConformance {
    @Override
    protected World newWorld() {
        return UringConformanceTest::open;
    }

    private static EventLoop open(LoopConfig config) {
        try {
            return Loop.open(
                    config,
                    IoUringBackend.open(
                            SyscallFactories.LINUX, new LinuxUringCalls(), config.eventsPerWait()));
        } catch (SystemCallException e) {
            throw new TestAbortedException(
                    "this kernel refuses io_uring: `gyre doctor` says why", e);
        }
    }
}
