package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.backend.uring.IoUringBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.FaultyMemory;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.internal.tls.Certificates;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// An echo on a loop that runs out of memory at each point in turn: the loop survives, a stream
/// without memory is closed with a reason, and no buffer is lost or counted twice.
@On("epoll")
class MemoryShortageTest extends StreamFixture {
    private static final int POOL_BYTES = 1 << 20;

    /// The smallest buffer of the pool.
    private static final int PART_BYTES = 4 << 10;

    private static final int ECHOED_BYTES = 200_000;

    private final FaultyMemory memory = new FaultyMemory();

    @Override
    protected LoopConfig config() {
        // An exception in a callback fails the test.
        return super.config()
                .withBufferMemory(POOL_BYTES)
                .withReceiveBuffers(16, 4 << 10)
                .withFailurePolicy(FailurePolicy.PROPAGATE);
    }

    @Override
    protected EventLoop open(LoopConfig config) {
        return open(config, BackendKind.EPOLL);
    }

    private EventLoop open(LoopConfig config, BackendKind kind) {
        SyscallFactories seam =
                new SyscallFactories(
                        SyscallFactories.LINUX.kernels(),
                        SyscallFactories.LINUX.sockets(),
                        SyscallFactories.LINUX.files(),
                        SyscallFactories.LINUX.limit(),
                        memory);
        return Loop.open(config, backend(kind, seam, config.eventsPerWait()));
    }

    private static Backend backend(BackendKind kind, SyscallFactories seam, int events) {
        if (kind == BackendKind.EPOLL) {
            return EpollBackend.open(seam, events);
        }
        try {
            return IoUringBackend.open(seam, new LinuxUringCalls(), events);
        } catch (SystemCallException e) {
            assumeTrue(false, "this kernel refuses io_uring: " + e.getMessage());
            throw e;
        }
    }

    private void use(BackendKind kind) {
        loop.close();
        loop = open(config(), kind);
    }

    private void connect(boolean secure) throws IOException {
        StreamConfig plain = StreamConfig.DEFAULT.withWaterMarks(20_000, 60_000);
        if (secure) {
            connect(plain.withTls(Certificates.server()), plain.withTls(Certificates.client()));
        } else {
            connect(plain, plain);
        }
    }

    /// Sends to an echo until all bytes return or a side is closed.
    ///
    /// @return whether all bytes returned
    private boolean echo() {
        int[] got = {0};
        server.onData(server::write);
        client.onData(
                data -> {
                    got[0] += data.readable();
                    data.clear();
                });
        int sent = 0;
        byte[] piece = new byte[10_000];
        while (sent < ECHOED_BYTES && client.isOpen() && server.isOpen()) {
            if (client.pending() <= 30_000) {
                client.write(piece);
                sent += piece.length;
            }
            settle();
        }
        runUntil(
                "echoed or closed",
                () ->
                        got[0] == ECHOED_BYTES
                                || client.closeReason() != null
                                || server.closeReason() != null);
        return got[0] == ECHOED_BYTES;
    }

    /// A pool whose mapping failed maps no more before its next trim.
    private void awaitRelaxed() {
        boolean[] relaxed = {false};
        Loop.of(loop).operations().pool().whenAvailable(() -> relaxed[0] = true);
        for (int i = 0; i < 600 && !relaxed[0]; i++) {
            loop.runFor(Duration.ofMillis(100));
        }
        assertThat(relaxed[0]).as("relaxed").isTrue();
    }

    private void closeBoth() {
        client.abort();
        server.abort();
        listener.close();
        settle();
        assertThat(loop.metrics().operations()).as("operations left over").isZero();
        server = null;
    }

    @ParameterizedTest
    @CsvSource({"EPOLL, false", "EPOLL, true", "IO_URING, false", "IO_URING, true"})
    @Clause("E-3")
    void loop_withTooLittleMemoryForAnEcho_livesAndServesTheNextOne(
            BackendKind kind, boolean secure) throws IOException {
        use(kind);
        int served = 0;
        int refused = 0;
        // Each acquisition of the echo fails once, for some remaining amount.
        for (int left = 0; served < 3; left++) {
            connect(secure);
            List<Buffer> hoard = new ArrayList<>();
            int keep = POOL_BYTES - (int) loop.metrics().bufferMemory() - left * PART_BYTES;
            for (int taken = 0; taken < keep; taken += PART_BYTES) {
                Buffer part = Buffer.tryAcquire(loop, PART_BYTES);
                if (part != null) {
                    hoard.add(part);
                }
            }
            if (echo()) {
                served++;
            } else {
                refused++;
            }
            hoard.forEach(Buffer::release);
            closeBoth();
            assertThat(loop.metrics().bufferMemory()).as("with %d parts left", left).isZero();
        }
        assertThat(refused).as("how often it was too little").isPositive();
    }

    @ParameterizedTest
    @CsvSource({"EPOLL, false", "EPOLL, true", "IO_URING, false", "IO_URING, true"})
    @Clause("E-3")
    void loop_whoseSystemRefusesMemory_livesAndServesTheNextOne(BackendKind kind, boolean secure)
            throws IOException {
        long asked = Long.MAX_VALUE;
        for (long n = 1; n <= asked; n++) {
            use(kind);
            connect(secure); // TLS uses some, but the echo needs another size.
            memory.refuse(n, Long.MAX_VALUE);
            boolean all = echo();
            asked = all ? memory.maps() : asked;
            memory.refuse(0, 0);
            closeBoth();
            assertThat(loop.metrics().bufferMemory()).as("map %d refused", n).isZero();
            if (n == 1) {
                awaitRelaxed();
                connect(secure);
                assertThat(echo()).isTrue();
                closeBoth();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    @Clause("E-3")
    void open_refusedMemory_opensNothing_andSaysWhichSetting(BackendKind kind) {
        long before = OpenDescriptors.count();
        memory.refuse(1, 1);
        Throwable thrown = null;
        try {
            open(config(), kind).close();
        } catch (SystemCallException e) {
            thrown = e;
        }
        assertThat(thrown)
                .hasMessageContaining("withReceiveBuffers")
                .hasMessageContaining("ENOMEM");
        assertThat(OpenDescriptors.count()).isEqualTo(before);
    }
}
