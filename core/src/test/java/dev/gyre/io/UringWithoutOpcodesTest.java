package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

/// The contracts on a ring that can do nothing but wait: every call is our own, after a poll or by a worker.
@On("io_uring")
class UringWithoutOpcodesTest {
    private final FaultyUring uring =
            new FaultyUring(new Plan())
                    .withOnlyOpcodes(
                            IoUringAbi.IORING_OP_POLL_ADD, IoUringAbi.IORING_OP_ASYNC_CANCEL)
                    .withoutBufferRings();

    @BeforeEach
    void requireUring() {
        try {
            IoUringBackend.open(SyscallFactories.LINUX, new LinuxUringCalls(), 16).close();
        } catch (SystemCallException e) {
            assumeTrue(false, "this kernel refuses io_uring: `gyre doctor` says why");
        }
    }

    private EventLoop overThatRing(LoopConfig config) {
        return Loop.open(
                config, IoUringBackend.open(SyscallFactories.LINUX, uring, config.eventsPerWait()));
    }

    @AfterEach
    void nothingWasTriedThatTheKernelSaidItLacks() {
        assertThat(uring.refusedSubmissions())
                .as("submissions with opcodes that the probe did not have")
                .isZero();
    }

    @Nested
    class Operating extends OperationContract {
        @Override
        protected EventLoop open(LoopConfig config) {
            return overThatRing(config);
        }
    }

    @Nested
    class Ending extends OperationEndsContract {
        @Override
        protected EventLoop open(LoopConfig config) {
            return overThatRing(config);
        }
    }

    @Nested
    class OfFiles extends FileOperationContract {
        @Override
        protected EventLoop open(LoopConfig config) {
            return overThatRing(config);
        }
    }
}
