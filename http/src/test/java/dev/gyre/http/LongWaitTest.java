package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.io.ListenerConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;

/// What comes after the loop has waited for longer than any timeout: times begin with it, and not with the wait.
class LongWaitTest {
    private static final int PORT = 80;
    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    private final SimulatedWorld world = SimulatedWorld.seed(3);

    private HttpServer server;

    @BeforeEach
    void listen() {
        HttpConfig config =
                HttpConfig.DEFAULT
                        .withIdleTimeout(Duration.ofSeconds(60))
                        .withHeaderTimeout(Duration.ofSeconds(10))
                        .withClock(() -> Instant.EPOCH.plus(world.elapsed()));
        server = HttpServer.on(world.loop(), config);
        server.get("/", (_, response) -> response.text("hello"));
        server.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT),
                ListenerConfig.DEFAULT);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer connect() {
        SimulatedPeer peer = world.connect(PORT);
        world.advance(Duration.ofMillis(10));
        assertThat(server.connections()).as("accepted").isOne();
        return peer;
    }

    /// Sends what arrives after the loop has waited for so long, and stays there for a while.
    private void sendAfter(Duration wait, SimulatedPeer peer, String text, Duration then) {
        world.latency(wait, Duration.ZERO);
        peer.send(text);
        world.advance(wait.plus(then)); // in one go: the loop must not be woken before
    }

    @Test
    void head_thatBeginsAfterALongWait_hasItsWholeTime() {
        SimulatedPeer peer = connect();
        sendAfter(Duration.ofSeconds(50), peer, "GET / HT", Duration.ofSeconds(8));

        assertThat(server.connections())
                .as("refused before its 10 seconds: see what Deadline counts from")
                .isOne();
        world.advance(Duration.ofSeconds(100));
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void date_afterALongWait_isOfTheAnswer() {
        SimulatedPeer peer = connect();
        sendAfter(Duration.ofMillis(1), peer, REQUEST, Duration.ofMillis(10));
        String first = date(peer);

        sendAfter(Duration.ofSeconds(20), peer, REQUEST, Duration.ofSeconds(21));

        assertThat(date(peer))
                .as("the Date of an answer 20 seconds later: see what Preamble counts by")
                .isNotEqualTo(first);
    }

    @Test
    void date_changes_whenTheSecondDoes() {
        SimulatedPeer peer = connect();
        world.advance(Duration.ofMillis(600));
        sendAfter(Duration.ofMillis(1), peer, REQUEST, Duration.ofMillis(10));
        String first = date(peer);

        world.advance(Duration.ofMillis(500));
        sendAfter(Duration.ofMillis(1), peer, REQUEST, Duration.ofMillis(10));

        assertThat(date(peer))
                .as("the Date 1.1 seconds after midnight: Preamble has made one 0.6 seconds after")
                .endsWith(":01 GMT");
        assertThat(first).endsWith(":00 GMT");
    }

    private static String date(SimulatedPeer peer) {
        String answers = peer.receivedText();
        assertThat(answers).contains("Date: ");
        String last = answers.substring(answers.lastIndexOf("Date: "));
        return last.substring(0, last.indexOf('\r'));
    }
}
