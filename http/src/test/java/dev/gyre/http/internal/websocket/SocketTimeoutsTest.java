package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// Pings for life, and how long the closing handshake may take, in simulated time.
@On("simulated")
class SocketTimeoutsTest {
    private static final WebSocketConfig CONFIG =
            WebSocketConfig.DEFAULT
                    .withPingInterval(Duration.ofSeconds(30))
                    .withCloseTimeout(Duration.ofSeconds(5));

    private static Duration seconds(int seconds) {
        return Duration.ofSeconds(seconds);
    }

    @Clause("K-1")
    @Test
    void silence_isPinged_andThenTakenForGone() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.world.advance(seconds(29));
            assertThat(server.answers()).isEmpty();
            server.world.advance(seconds(2));
            assertThat(server.answers()).containsExactly("ping ");
            server.world.advance(seconds(28));
            assertThat(server.socket.isOpen()).isTrue();
            server.world.advance(seconds(2));
            assertThat(server.events).containsExactly("closed 1006");
            assertThat(server.peer.isClosed()).isTrue();
            server.world.advance(seconds(60));
            assertThat(server.stream.closeReason()).isEqualTo(CloseReason.IDLE_TIMEOUT);
        }
    }

    @Clause("K-1")
    @Test
    void pong_keepsTheSocket() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            for (int i = 0; i < 5; i++) {
                server.world.advance(seconds(31));
                assertThat(server.answers()).hasSize(i + 1).containsOnly("ping ");
                server.send(Frames.frame(Frames.PONG, ""));
            }
            assertThat(server.socket.isOpen()).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void bytes_ofAnySort_putThePingOff() {
        WebSocketConfig patient = CONFIG.withMessageTimeout(Duration.ZERO);
        try (ServerSide server = ServerSide.echo(patient, false)) {
            byte[] long1 = Frames.frame(Frames.BINARY, new byte[10]);
            for (int i = 0; i < long1.length - 1; i++) {
                server.world.advance(seconds(20));
                server.send(new byte[] {long1[i]});
            }
            assertThat(server.answers()).as("a byte came every 20 seconds: no ping").isEmpty();
        }
    }

    @Clause("K-1")
    @Test
    void message_thatDoesNotEnd_isClosedInTime_whateverElseArrives() {
        for (Duration interval : new Duration[] {Duration.ZERO, seconds(30), seconds(300)}) {
            try (ServerSide server = ServerSide.echo(CONFIG.withPingInterval(interval), false)) {
                server.world.advance(seconds(10));
                server.send(Frames.part(Frames.TEXT, "it begins"));
                for (int i = 0; i < 5; i++) {
                    server.world.advance(seconds(11));
                    server.send(Frames.frame(Frames.PONG, ""), Frames.part(0, "."));
                }
                assertThat(server.socket.isOpen()).as("after 55 seconds").isTrue();
                server.world.advance(seconds(6));
                assertThat(server.events)
                        .as("pings each %s", interval)
                        .containsExactly("closed 1008");
                assertThat(server.answers()).last().isEqualTo("close 1008");
                server.world.advance(seconds(60));
                assertThat(server.stream.closeReason()).isEqualTo(CloseReason.BODY_TIMEOUT);
            }
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatEnd_haveEachTheirOwnTime() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            for (int i = 0; i < 5; i++) {
                server.send(Frames.part(Frames.TEXT, "it begins"));
                server.world.advance(seconds(25));
                server.send(Frames.part(0, " and goes on"));
                server.world.advance(seconds(25));
                server.send(Frames.frame(0, " and ends"));
            }
            assertThat(server.answers()).hasSize(5);
            server.world.advance(seconds(25));
            assertThat(server.socket.isOpen()).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void message_thatIsLong_mayTakeLong() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.send(Frames.part(Frames.BINARY, new byte[100]));
            for (int i = 0; i < 20; i++) {
                server.world.advance(seconds(10));
                server.send(Frames.part(0, new byte[20_000]));
            }
            server.send(Frames.frame(0, ""));
            assertThat(server.answers()).as("after 200 seconds").hasSize(1);
        }
    }

    @Clause("K-1")
    @Test
    void message_ofASocketThatIsPaused_hasItsTimeAnew() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.send(Frames.part(Frames.TEXT, "it begins"));
            server.socket.pause();
            server.world.advance(seconds(300));
            server.socket.resume();
            server.send(Frames.frame(0, " and ends"));
            assertThat(server.answers()).hasSize(1);
        }
    }

    @Clause("K-1")
    @Test
    void silence_ofASocketThatIsPaused_meansNothing() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.socket.pause();
            server.world.advance(seconds(300));
            assertThat(server.socket.isOpen()).isTrue();
            assertThat(server.answers()).isEmpty();
        }
    }

    @Clause("K-1")
    @Test
    void intervalOfZero_neverPings() {
        try (ServerSide server = ServerSide.echo(CONFIG.withPingInterval(Duration.ZERO), false)) {
            server.world.advance(seconds(3600));
            assertThat(server.answers()).isEmpty();
            assertThat(server.socket.isOpen()).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void close_whichThePeerDoesNotAnswer_isOverAfterTheTimeout() {
        for (Duration interval : new Duration[] {Duration.ZERO, seconds(30)}) {
            try (ServerSide server = ServerSide.echo(CONFIG.withPingInterval(interval), false)) {
                server.socket.close(1001, "bye");
                server.world.advance(seconds(4));
                assertThat(server.answers()).containsExactly("close 1001");
                assertThat(server.events).isEmpty();
                assertThat(server.peer.isEnded()).isFalse();
                server.world.advance(seconds(2));
                assertThat(server.events).containsExactly("closed 1006");
                assertThat(server.peer.isEnded()).isTrue();
                server.world.advance(seconds(60));
                assertThat(server.stream.closeReason()).isEqualTo(CloseReason.LINGER_TIMEOUT);
            }
        }
    }

    @Clause("K-1")
    @Test
    void close_thatIsAnswered_isToldWithThePeersCode() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.socket.close();
            server.socket.close(1001, "twice is safe");
            server.world.run();
            assertThat(server.socket.isOpen()).isFalse();
            assertThat(server.socket.send("late")).isFalse();
            server.send(Frames.frame(Frames.TEXT, "in flight"), Frames.frame(Frames.PING, ""));
            server.send(Frames.part(Frames.TEXT, "and"), Frames.close(4711, "so long"));
            assertThat(server.answers()).containsExactly("close 1000");
            assertThat(server.events).containsExactly("closed 4711");
            assertThat(server.peer.isEnded()).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void close_ofASocketThatIsPaused_hearsTheAnswer() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.socket.pause();
            server.socket.close();
            server.send(Frames.close(1000, ""));
            assertThat(server.events).containsExactly("closed 1000");
        }
    }

    @Clause("K-1")
    @Test
    void end_withoutACloseFrame_isALoss() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.send(Frames.part(Frames.TEXT, "half a mess"));
            server.peer.halfClose();
            server.world.run();
            assertThat(server.events).containsExactly("closed 1006");
            assertThat(server.stream.closeReason()).isEqualTo(CloseReason.CLOSED);
        }
    }

    @Clause("K-1")
    @Test
    void reset_isALoss() {
        try (ServerSide server = ServerSide.echo(CONFIG, false)) {
            server.peer.reset();
            server.world.run();
            assertThat(server.events).containsExactly("closed 1006");
            assertThat(server.socket.send("late")).isFalse();
        }
    }

    @Clause("K-1")
    @Test
    void onClose_setLate_isToldAllTheSame() {
        try (ServerSide server = ServerSide.of(CONFIG, false, StreamConfig.DEFAULT, socket -> {})) {
            server.send(Frames.close(1001, "gone"));
            server.socket.onClose((code, reason) -> server.events.add(code + " " + reason));
            server.world.run();
            assertThat(server.events).containsExactly("closed 1001", "1001 gone");
        }
    }
}
