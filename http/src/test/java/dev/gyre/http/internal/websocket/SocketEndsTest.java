package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Who is told of a socket's end, and what.
@On("simulated")
class SocketEndsTest {
    private final List<String> told = new ArrayList<>();

    private ServerSide server(StreamConfig streams) {
        return ServerSide.of(
                WebSocketConfig.DEFAULT,
                false,
                streams,
                socket -> socket.onClose((code, reason) -> told.add(code + " " + reason)));
    }

    private ServerSide server() {
        return server(StreamConfig.DEFAULT);
    }

    /// How a socket ends is told, after something was done to it.
    private String end(Consumer<ServerSide> done) {
        told.clear();
        try (ServerSide server = server()) {
            done.accept(server);
            server.world.run();
        }
        assertThat(told).hasSize(1);
        return told.getFirst();
    }

    @Clause("K-1")
    @Test
    void onClose_setSeveralTimes_tellsAllInOrder_whicheverThrows() {
        try (ServerSide server = server()) {
            WebSocket socket = server.socket;
            socket.onClose(
                    (code, _) -> {
                        told.add("second " + code);
                        throw new IllegalStateException("the second");
                    });
            socket.onClose((code, _) -> told.add("third " + code));
            socket.onClose((_, _) -> socket.onClose((code, _) -> told.add("late " + code)));
            server.peer.send(Frames.close(1001, "gone"));
            assertThatThrownBy(server.world::run)
                    .as("the loop hears of it")
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the second");
            server.world.run();
            assertThat(told).containsExactly("1001 gone", "second 1001", "third 1001", "late 1001");
        }
    }

    @Clause("K-1")
    @Test
    void onClose_ofASocketThatWasLost_isToldHow() {
        assertThat(end(server -> server.peer.reset()))
                .isEqualTo("1006 the connection was closed without a close frame: RESET");
        assertThat(end(server -> server.peer.halfClose()))
                .isEqualTo("1006 the peer ended the connection without a close frame");
        assertThat(end(server -> server.stream.abort()))
                .isEqualTo("1006 the connection was closed without a close frame: ABORTED");
        assertThat(end(server -> server.world.advance(Duration.ofSeconds(61))))
                .isEqualTo("1006 the peer sent no pong in time");
        assertThat(
                        end(
                                server -> {
                                    server.socket.close();
                                    server.world.advance(Duration.ofMinutes(1));
                                }))
                .isEqualTo("1006 the peer sent no close frame in time");
        assertThat(
                        end(
                                server -> {
                                    server.stream.idleTimeout(Duration.ofSeconds(1));
                                    server.world.advance(Duration.ofSeconds(2));
                                }))
                .isEqualTo("1006 the connection was closed without a close frame: IDLE_TIMEOUT");
        assertThat(
                        end(
                                server -> {
                                    server.stream.abort();
                                    server.socket.close();
                                }))
                .as("closed before anybody was told")
                .isEqualTo("1006 the connection was closed without a close frame: ABORTED");
    }

    @Clause("K-1")
    @Test
    void socket_atTheOutputLimit_isToldSo_andTheRemedyIsLoggedOnceForALoop() {
        StreamConfig streams = StreamConfig.DEFAULT.withOutputLimit(100_000);
        try (LogCapture log = new LogCapture();
                ServerSide server = server(streams)) {
            for (int i = 0; i < 3; i++) {
                server.peer.pauseReading();
                server.socket.send(new byte[200_000]);
                server.world.run();
                assertThat(told)
                        .hasSize(i + 1)
                        .containsOnly(
                                "1006 the connection was closed without a close frame:"
                                        + " OUTPUT_LIMIT");
                server.connectAgain();
            }
            assertThat(log.levels()).containsExactly("WARNING");
            assertThat(log.messages().getFirst())
                    .contains("WebSocket[/, ", "StreamConfig.outputLimit", "onWritable")
                    .contains("WebSocketConfig.withSlowConsumerPolicy");
        }
    }
}
