package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A graceful end with a peer outside the loop, which goes on reading.
class StreamShutdownTest {
    private static final int BYTES = 8_000_000;

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    @Clause({"S-1", "N-4"})
    void shutdown_sendsWhatWasWritten_beforeItClosesStreams(BackendKind backend) {
        List<CloseReason> closed = new ArrayList<>();
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend))) {
            assumeTrue(
                    loop.metrics().backendFallback().isEmpty(),
                    "this kernel refuses " + backend + ": `gyre doctor` says why");
            Listener listener =
                    Listener.tcp(
                            loop,
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            stream -> {
                                stream.onData(Buffer::clear).onClose(closed::add);
                                stream.write(new byte[BYTES]);
                                loop.shutdown(Duration.ofSeconds(60));
                            });
            InetSocketAddress address = (InetSocketAddress) listener.address();
            CompletableFuture<Long> read =
                    CompletableFuture.supplyAsync(
                            () -> readAll(address), Thread::startVirtualThread);
            loop.run();
            assertThat(read.join()).as("bytes that arrived").isEqualTo(BYTES);
            assertThat(closed).containsExactly(CloseReason.LOOP_ENDED);
        }
    }

    @ParameterizedTest
    @CsvSource({"EPOLL, true", "EPOLL, false", "IO_URING, true", "IO_URING, false"})
    @Clause({"S-1", "N-4"})
    void shutdown_withInputThatNobodyRead_leavesThePeerWhatWasWritten(
            BackendKind backend, boolean paused) throws IOException {
        int bytes = 100_000; // Less than kernels hold: the peer reads when the loop is long gone.
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
                Socket peer = new Socket()) {
            assumeTrue(
                    loop.metrics().backendFallback().isEmpty(),
                    "this kernel refuses " + backend + ": `gyre doctor` says why");
            Listener listener =
                    Listener.tcp(
                            loop,
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            stream -> {
                                if (paused) {
                                    stream.pause();
                                    stream.onData(Buffer::clear);
                                }
                                stream.write(new byte[bytes]);
                                loop.shutdown(Duration.ofSeconds(60));
                            });
            peer.connect(listener.address());
            peer.getOutputStream().write(new byte[50_000]); // There before the loop looks.
            loop.run();
            assertThat(peer.getInputStream().readAllBytes())
                    .as("what arrives behind input that was not read")
                    .hasSize(bytes);
        }
    }

    private static long readAll(InetSocketAddress address) {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            return socket.getInputStream().readAllBytes().length;
        } catch (IOException e) {
            throw new AssertionError("the server did not send all of it", e);
        }
    }
}
