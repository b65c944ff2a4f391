package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.conformance.On;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.testkit.internal.SimulatedBackend;
import dev.gyre.testkit.internal.SimulatedKernel;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The contract of backends over the simulated kernel. A simulated world has one thread, so
/// scheduled events replace the other threads of the contract.
@On("simulated")
class SimulatedBackendTest extends BackendContract {
    private final SimulatedKernel kernel = new SimulatedKernel(1);

    @Override
    protected Backend open() {
        return new SimulatedBackend(kernel, 16, LoopConfig.DEFAULT.maxWait().toNanos());
    }

    @Override
    protected Conduit pipe() {
        FdPair pair = new FdPair();
        int flags = Linux.O_NONBLOCK | Linux.O_CLOEXEC;
        assertThat(calls().pipe2(pair.address(), flags)).isZero();
        return new SimulatedConduit(calls(), pair.first(), pair.second());
    }

    @Override
    protected Conduit sockets() {
        FdPair pair = new FdPair();
        int type = Linux.SOCK_STREAM | Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        assertThat(calls().socketpair(Linux.AF_UNIX, type, 0, pair.address())).isZero();
        return new SimulatedConduit(calls(), pair.first(), pair.second());
    }

    private PollCalls calls() {
        return kernel.syscalls().kernels().get();
    }

    @Override
    protected void withRegularFile(FileUser user) {
        kernel.writeFile("/file", new byte[1]);
        byte[] path = "/file\0".getBytes(StandardCharsets.US_ASCII);
        MemorySegment memory = Memory.allocate(path.length);
        Memory.putBytes(memory.address(), path, 0, path.length);
        try {
            int fd = kernel.syscalls().files().get().open(memory.address(), Linux.O_RDONLY, 0);
            user.use(fd);
            calls().close(fd);
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    @Override
    protected void nothingLeaked() {
        assertThat(kernel.openDescriptors()).isZero();
    }

    @Test
    @Override
    @Clause({"Q-5", "T-6"})
    void loop_overTheBackend_keepsItsTimersAndItsWakeUps() {
        Loop loop = Loop.open(LoopConfig.DEFAULT, open());
        List<Long> lateness = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            loop.after(
                    Duration.ofMillis(i),
                    timer -> lateness.add(loop.nanoTime() - timer.firedDeadlineNanos()));
        }
        loop.runUntilEmpty();
        assertThat(lateness).containsExactly(0L, 0L, 0L, 0L, 0L);
        List<LoopState> found = new ArrayList<>();
        kernel.runOutside(
                () -> {
                    found.add(loop.state());
                    loop.submit(loop::stop);
                });
        loop.run();
        assertThat(found).containsExactly(LoopState.SLEEPING);
        assertThat(loop.metrics().wakeups()).isEqualTo(1);
        loop.close();
    }

    @Test
    @Override
    @Clause("B-3")
    void register_whileTheLoopSleeps_takesEffectAtOnce() {
        Loop loop = Loop.open(LoopConfig.DEFAULT, open());
        Conduit pipe = pipe();
        kernel.runOutside(
                () -> {
                    loop.backend()
                            .register(
                                    pipe.reader(),
                                    Readiness.READ | Readiness.EDGE,
                                    bits -> loop.stop());
                    assertThat(loop.state()).isEqualTo(LoopState.SLEEPING);
                    pipe.write();
                });
        loop.run();
        assertThat(loop.metrics().wakeups()).as("registering woke nobody").isZero();
        loop.close();
        pipe.close();
    }

    /// Two ends in the simulated kernel.
    private static final class SimulatedConduit implements Conduit {
        private final PollCalls kernel;
        private final MemorySegment memory = Memory.allocate(8);
        private final int reader;
        private final int writer;
        private boolean readerOpen = true;
        private boolean writerOpen = true;

        SimulatedConduit(PollCalls kernel, int reader, int writer) {
            this.kernel = kernel;
            this.reader = reader;
            this.writer = writer;
        }

        @Override
        public int reader() {
            return reader;
        }

        @Override
        public int writer() {
            return writer;
        }

        @Override
        public void write() {
            assertThat(kernel.write(writer, memory.address(), 1)).isEqualTo(1);
        }

        @Override
        public void read() {
            assertThat(kernel.read(reader, memory.address(), 1)).isEqualTo(1);
        }

        @Override
        public void closeReader() {
            if (readerOpen) {
                readerOpen = false;
                assertThat(kernel.close(reader)).isZero();
            }
        }

        @Override
        public void closeWriter() {
            if (writerOpen) {
                writerOpen = false;
                assertThat(kernel.close(writer)).isZero();
            }
        }

        @Override
        public void close() {
            closeReader();
            closeWriter();
        }
    }
}
