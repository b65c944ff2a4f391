package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.CloseReason;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;

/// Timeouts of requests and idle connections, in simulated time.
class HttpClientTimesTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    private static final HttpClientConfig CONFIG =
            HttpClientConfig.DEFAULT
                    .withMaxConnections(1)
                    .withTimeout(seconds(20))
                    .withIdleTimeout(seconds(40));

    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private final ScriptedPeer peer = new ScriptedPeer(world.loop());
    private final HttpClient client = HttpClient.on(world.loop(), CONFIG);

    @AfterEach
    void close() {
        client.close();
        world.advance(seconds(60));
        world.close();
    }

    private static Duration seconds(int seconds) {
        return Duration.ofSeconds(seconds);
    }

    private Promise<ClientResponse> quiet(Promise<ClientResponse> promise) {
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        return promise;
    }

    private static Throwable reason(Promise<ClientResponse> promise) {
        assertThat(promise.outcome())
                .as("time has run out, so the call is to be rejected by now")
                .isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<ClientResponse>) promise.outcome()).reason();
    }

    @Test
    void call_thatIsNotAnswered_isRejectedWhenItsTimeIsOver() {
        Promise<ClientResponse> call = quiet(client.get(peer.uri("/")));
        world.advance(Duration.ofMillis(19_990));
        assertThat(call.isSettled()).isFalse();
        assertThat(client.connections()).isEqualTo(1);
        world.advance(Duration.ofMillis(20));
        assertThat(reason(call))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining("no complete response from http://127.0.0.1:")
                .hasMessageContaining("20 s");
        assertThat(client.connections()).as("an answer may still come on it").isZero();
        assertThat(peer.streams().getFirst().closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    void bytes_doNotBuyTime() {
        String text = "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n";
        peer.reply(text);
        Promise<ClientResponse> call = quiet(client.get(peer.uri("/")));
        for (int i = 0; i < 19; i++) {
            world.advance(seconds(1));
            peer.streams().getFirst().write("x");
        }
        assertThat(call.isSettled()).isFalse();
        world.advance(seconds(1));
        assertThat(reason(call)).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void call_thatWaits_hasItsTimeToo_andIsNeverSent() {
        Promise<ClientResponse> first =
                quiet(client.request("GET", peer.uri("/1")).timeout(seconds(30)).send());
        Promise<ClientResponse> second = quiet(client.get(peer.uri("/2")));
        world.advance(seconds(21));
        assertThat(first.isSettled()).as("its own timeout is longer").isFalse();
        assertThat(reason(second))
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessageContaining("no connection to");
        peer.reply(OK);
        Promise<ClientResponse> third = quiet(client.get(peer.uri("/3")));
        world.advance(seconds(10));
        assertThat(reason(first)).isInstanceOf(SocketTimeoutException.class);
        assertThat(third.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(peer.requests()).hasSize(2).noneMatch(request -> request.startsWith("GET /2"));
    }

    @Test
    void hostThatIsSilent_costsTheTimeOfTheCall() throws Exception {
        InetAddress silent = InetAddress.getByAddress(new byte[] {10, 9, 8, 7});
        world.blackhole(silent);
        Promise<ClientResponse> call =
                quiet(
                        client.request("GET", URI.create("http://10.9.8.7/"))
                                .timeout(seconds(3))
                                .send());
        Promise<ClientResponse> longer = quiet(client.get(URI.create("http://10.9.8.7/")));
        world.advance(seconds(4));
        assertThat(reason(call)).hasMessageContaining("no connection to http://10.9.8.7:80");
        assertThat(longer.isSettled()).isFalse();
        world.advance(seconds(20));
        assertThat(reason(longer)).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void connection_thatNobodyUses_isClosedAfterAWhile() {
        peer.reply(OK).reply(OK);
        Promise<ClientResponse> _ = client.get(peer.uri("/"));
        world.advance(seconds(39));
        assertThat(client.connections()).isEqualTo(1);
        Promise<ClientResponse> _ = client.get(peer.uri("/"));
        world.advance(seconds(39));
        assertThat(client.connections()).as("it was used 39 seconds ago").isEqualTo(1);
        world.advance(seconds(2));
        assertThat(client.connections()).isZero();
        assertThat(peer.streams()).hasSize(1);
        assertThat(peer.streams().getFirst().closeReason()).isEqualTo(CloseReason.ENDED);
    }

    @Test
    void idleTime_doesNotRunDuringACall() {
        HttpClient patient =
                HttpClient.on(
                        world.loop(), CONFIG.withTimeout(seconds(300)).withIdleTimeout(seconds(5)));
        peer.reply(OK).reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
        Promise<ClientResponse> _ = patient.get(peer.uri("/"));
        world.advance(seconds(1));
        Promise<ClientResponse> slow = patient.get(peer.uri("/"));
        world.advance(seconds(200));
        peer.streams().getFirst().write("hi");
        world.advance(seconds(1));
        assertThat(slow.outcome()).isInstanceOf(Outcome.Resolved.class);
        world.advance(seconds(6));
        assertThat(patient.connections()).isZero();
    }

    @Test
    void timeout_thatIsNone_isRefused() {
        ClientRequest call = client.request("GET", peer.uri("/"));
        assertThatThrownBy(() -> call.timeout(seconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1 s");
        assertThatThrownBy(() -> call.stallTimeout(seconds(-1))).hasMessageContaining("-1 s");
    }
}
