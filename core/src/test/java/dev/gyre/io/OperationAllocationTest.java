package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.util.List;

/// Counts allocated bytes as `AllocationTest` does: runs windows of rounds until one allocates
/// nothing. Interpreted code may allocate before.
class OperationAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5_000;
    private static final int WINDOWS = 100;

    /// Tolerates occasional allocations of the JVM; one byte per round would exceed it.
    private static final long SLACK_BYTES = 4_096;

    private static EventLoop open(BackendKind backend) {
        EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
        if (loop.metrics().backendFallback().isPresent()) {
            loop.close();
            assumeTrue(false, "this kernel refuses " + backend + ": `gyre doctor` says why");
        }
        return loop;
    }

    private static void assertReachesZero(String what, Runnable round) {
        long least = Long.MAX_VALUE;
        for (int window = 0; window < WINDOWS && least > SLACK_BYTES; window++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                round.run();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least)
                .as("bytes allocated by %s in the best window of %d rounds", what, ROUNDS)
                .isLessThanOrEqualTo(SLACK_BYTES);
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    @Clause("O-8")
    void readAndWrite_inSteadyState_allocateNothing(BackendKind backend) {
        try (EventLoop loop = open(backend)) {
            Operations operations = Operations.on(loop);
            List<Descriptor> pair = Sockets.pair(loop);
            Buffer out = Buffer.allocate(64);
            Buffer in = Buffer.allocate(64);
            byte[] message = new byte[32];
            int[] done = {0};
            Operation write = operations.write(pair.get(0), out, op -> done[0]++);
            Operation read = operations.read(pair.get(1), in, op -> done[0]++);
            assertReachesZero(
                    "a message that is written and read",
                    () -> {
                        int before = done[0];
                        read.start();
                        out.clear().put(message);
                        write.start();
                        while (done[0] < before + 2) {
                            loop.runSome();
                        }
                        in.clear();
                    });
            pair.forEach(Descriptor::close);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    @Clause({"O-8", "B-4"})
    void receive_inSteadyState_allocatesNothing(BackendKind backend) {
        try (EventLoop loop = open(backend)) {
            Operations operations = Operations.on(loop);
            List<Descriptor> pair = Sockets.pair(loop);
            Buffer out = Buffer.allocate(64);
            byte[] message = new byte[32];
            int[] received = {0};
            operations
                    .receive(
                            pair.get(1),
                            op -> {
                                if (op.result() > 0) {
                                    received[0] += op.received().readable();
                                }
                            })
                    .start();
            Operation write = operations.write(pair.get(0), out, op -> {});
            assertReachesZero(
                    "a message that is received in a buffer of the loop's",
                    () -> {
                        int before = received[0];
                        out.clear().put(message);
                        write.start();
                        while (received[0] < before + 32 || write.isPending()) {
                            loop.runSome();
                        }
                    });
            pair.forEach(Descriptor::close);
        }
    }
}
