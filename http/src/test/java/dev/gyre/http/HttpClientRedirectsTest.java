package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Redirects that the client follows on request.
class HttpClientRedirectsTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

    private final SimulatedWorld world = SimulatedWorld.seed(11);
    private final ScriptedPeer peer = new ScriptedPeer(world.loop());
    private final HttpClient client = HttpClient.on(world.loop());

    @AfterEach
    void close() {
        client.close();
        world.advance(Duration.ofSeconds(60));
        world.close();
    }

    private static String redirect(int status, Object location, String body) {
        return "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(status, location, body.length(), body);
    }

    private Outcome<ClientResponse> outcome(Promise<ClientResponse> response) {
        response.then(_ -> null, _ -> null); // Handled.
        world.advance(Duration.ofSeconds(1));
        assertThat(response.isSettled()).isTrue();
        return response.outcome();
    }

    private ClientResponse response(Promise<ClientResponse> response) {
        return ((Outcome.Resolved<ClientResponse>) outcome(response)).value();
    }

    private Throwable failure(Promise<ClientResponse> response) {
        return ((Outcome.Rejected<ClientResponse>) outcome(response)).reason();
    }

    private List<String> requestLines() {
        return peer.requests().stream().map(head -> head.lines().findFirst().orElse("")).toList();
    }

    @Test
    @Clause("H-7")
    void send_withoutFollowRedirects_returnsTheRedirect() {
        peer.reply(redirect(302, "/b", ""));
        ClientResponse response = response(client.get(peer.uri("/a")));
        assertThat(response.status()).isEqualTo(302);
        assertThat(response.headers().get("Location")).isEqualTo("/b");
    }

    @Test
    @Clause("H-7")
    void send_toTheSameOrigin_followsOnTheSameConnection() {
        peer.reply(redirect(301, "/b", "moved")).reply(redirect(302, "c?d", "")).reply(OK);
        ClientResponse response =
                response(client.request("GET", peer.uri("/a")).followRedirects(2).send());
        assertThat(response.text()).isEqualTo("hi");
        assertThat(requestLines())
                .containsExactly("GET /a HTTP/1.1", "GET /b HTTP/1.1", "GET /c?d HTTP/1.1");
        assertThat(peer.streams()).as("connections").hasSize(1);
    }

    @Test
    @Clause("H-7")
    void send_toAnotherOrigin_dropsCredentials() {
        ScriptedPeer other = new ScriptedPeer(world.loop()).reply(OK);
        peer.reply(redirect(302, other.uri("/b"), ""));
        ClientRequest request =
                client.request("GET", peer.uri("/a"))
                        .header("Authorization", "Bearer secret")
                        .header("Cookie", "id=1")
                        .header("X-Kept", "1");
        assertThat(response(request.followRedirects(1).send()).status()).isEqualTo(200);
        assertThat(peer.requests().getFirst()).contains("Bearer secret", "id=1");
        assertThat(other.requests().getFirst())
                .contains("X-Kept: 1", "Host: " + other.uri("/").getAuthority())
                .doesNotContain("Authorization", "Cookie");
    }

    @Test
    @Clause("H-7")
    void send_withABody_repeatsItFor307AndDropsItFor303() {
        List<String> requests = new ArrayList<>();
        HttpServer server = HttpServer.on(world.loop());
        server.post("/a", (_, response) -> response.status(307).header("Location", "/b").text(""));
        server.post(
                "/b",
                (request, response) ->
                        request.body()
                                .text()
                                .thenCompose(
                                        text -> {
                                            requests.add(text);
                                            return response.status(303)
                                                    .header("Location", "/c")
                                                    .text("see other");
                                        }));
        server.get(
                "/c",
                (request, response) -> {
                    requests.add(String.valueOf(request.headers().get("Content-Type")));
                    return response.text("done");
                });
        server.listen(8080);
        ClientRequest request =
                client.request("POST", java.net.URI.create("http://localhost:8080/a"));
        ClientResponse response =
                response(
                        request.header("Content-Type", "text/plain")
                                .followRedirects(5)
                                .send("the body"));
        assertThat(response.text()).isEqualTo("done");
        assertThat(requests).containsExactly("the body", "null");
        server.close();
    }

    @Test
    @Clause("H-7")
    void stream_thatIsRedirectedBySeeOther_continuesWithoutTheBody() {
        peer.reply(redirect(303, "/b", "")).reply(OK);
        ClientRequestStream out =
                client.request("POST", peer.uri("/a")).followRedirects(1).stream(4);
        out.write("body");
        assertThat(response(out.end()).text()).isEqualTo("hi");
        assertThat(out.isOpen()).isFalse();
        assertThat(requestLines()).containsExactly("POST /a HTTP/1.1", "GET /b HTTP/1.1");
    }

    @Test
    @Clause("H-7")
    void stream_thatWouldHaveToBeRepeated_isRejected() {
        peer.reply(redirect(308, "/b", ""));
        ClientRequestStream out =
                client.request("POST", peer.uri("/a")).followRedirects(1).stream(4);
        out.write("body");
        assertThat(failure(out.end()))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("cannot be replayed");
    }

    @Test
    @Clause("H-7")
    void send_aboveTheMaximum_isRejectedWithTheChain() {
        peer.reply(redirect(302, "/2", "")).reply(redirect(302, "/3", ""));
        assertThat(failure(client.request("GET", peer.uri("/1")).followRedirects(1).send()))
                .isInstanceOf(ProtocolException.class)
                .hasMessage(
                        "more than 1 redirects, see followRedirects: GET %s → GET %s → GET %s"
                                .formatted(peer.uri("/1"), peer.uri("/2"), peer.uri("/3")));
        assertThat(requestLines()).hasSize(2);
    }

    @Test
    @Clause("H-7")
    void callbacks_ofARedirectedRequest_receiveTheFinalResponseOnly() {
        peer.reply(redirect(302, "/b", "not for the callbacks")).reply(OK);
        List<String> events = new ArrayList<>();
        ClientRequest request =
                client.request("GET", peer.uri("/a"))
                        .followRedirects(1)
                        .onHead(head -> events.add("" + head.status()))
                        .onData(data -> events.add(data.getText(StandardCharsets.US_ASCII)));
        assertThat(response(request.send()).status()).isEqualTo(200);
        assertThat(events).containsExactly("200", "hi");
    }

    @Test
    @Clause("H-7")
    void redirect_withALargeOrEndlessBody_isFollowedOnAnotherConnection() {
        for (String head :
                List.of(
                        "Content-Length: 1000000000",
                        "X-Until: close",
                        "Transfer-Encoding: chunked")) {
            String chunk =
                    head.endsWith("chunked") ? "20000\r\n" + "x".repeat(0x20000) + "\r\n" : "some";
            peer.reply("HTTP/1.1 302 Moved\r\nLocation: /b\r\n" + head + "\r\n\r\n" + chunk);
            peer.reply(OK);
            ClientResponse response =
                    response(client.request("GET", peer.uri("/a")).followRedirects(1).send());
            assertThat(response.text()).as(head).isEqualTo("hi");
        }
        assertThat(peer.streams().size()).isGreaterThanOrEqualTo(4);
    }

    @Test
    @Clause("H-7")
    void timeout_appliesToTheWholeChain() {
        for (int i = 1; i < 50; i++) {
            String text = redirect(302, "/" + i, "");
            peer.reply(text.substring(0, text.length()), false, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        }
        Promise<ClientResponse> response =
                client.request("GET", peer.uri("/0"))
                        .followRedirects(100)
                        .timeout(Duration.ofMillis(100))
                        .send();
        assertThat(failure(response)).isInstanceOf(SocketTimeoutException.class);
        assertThat(requestLines()).hasSizeBetween(2, 40);
        assertThat(client.connections()).isZero();
    }

    @Test
    @Clause("H-7")
    void followRedirects_withANegativeMaximum_isMisuse() {
        assertThatThrownBy(() -> client.request("GET", peer.uri("/")).followRedirects(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
    }
}
