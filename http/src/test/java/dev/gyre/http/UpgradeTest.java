package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What a server makes of a request for a WebSocket.
@On("simulated")
class UpgradeTest {
    private static final String FIELDS =
            """
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            """;

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private final List<String> told = new ArrayList<>();

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer ask(String start, String fields, String behind) {
        SimulatedPeer peer = world.connect(80);
        peer.send((start + "\r\nHost: here\r\n" + fields + "\r\n" + behind).getBytes(ISO_8859_1));
        world.run();
        return peer;
    }

    private static String answer(SimulatedPeer peer) {
        return new String(peer.received(), ISO_8859_1);
    }

    private HttpServer server() {
        return HttpServer.on(world.loop())
                .get("/plain", (_, response) -> response.text("plain"))
                .webSocket("/socket", _ -> told.add("opened"))
                .listen(80);
    }

    @Clause("K-1")
    @Test
    void opened_isToldTheRequest_whichIsOverThen() {
        List<Request> kept = new ArrayList<>();
        HttpServer.on(world.loop())
                .webSocket(
                        "/chat/{room}",
                        (request, socket) -> {
                            told.add(request.pathParam("room"));
                            told.add(request.queryParam("name"));
                            told.add(request.header("Cookie"));
                            told.add("" + request.headers().contains("Upgrade"));
                            told.add(socket.target());
                            kept.add(request);
                        })
                .listen(80);
        SimulatedPeer peer =
                ask("GET /chat/t%C3%A9a?name=Ann HTTP/1.1", FIELDS + "Cookie: id=7\r\n", "");
        assertThat(answer(peer)).startsWith("HTTP/1.1 101 ");
        assertThat(told).containsExactly("téa", "Ann", "id=7", "true", "/chat/t%C3%A9a?name=Ann");
        assertThatThrownBy(() -> kept.getFirst().pathParam("room"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has ended");
    }

    @Clause("K-1")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Origin: http://evil\r\n",
                "Origin: null\r\n",
                "Origin: http://here:81\r\n",
                "Origin: http://here.evil\r\n",
                "Origin: http://here\r\nOrigin: http://here\r\n"
            })
    void page_ofAnotherOrigin_isRefused(String origin) {
        server();
        SimulatedPeer peer = ask("GET /socket HTTP/1.1", FIELDS + origin, "");
        assertThat(answer(peer)).startsWith("HTTP/1.1 403 ").contains("origin");
        assertThat(told).isEmpty();
    }

    @Clause("K-1")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Origin: http://here\r\n",
                "Origin: HTTP://HERE:80\r\n",
                "Origin: https://here\r\n"
            })
    void page_ofTheSameOrigin_orNoPage_isAccepted(String origin) {
        server();
        ask("GET /socket HTTP/1.1", FIELDS + origin, "");
        assertThat(told).containsExactly("opened");
    }

    @Clause("K-1")
    @Test
    void refusal_closes_soThatNothingBehindItIsTakenForARequest() {
        server();
        String behind = "GET /plain HTTP/1.1\r\nHost: here\r\n\r\n";
        for (String fields :
                List.of(
                        "",
                        FIELDS.replace("13", "8"),
                        FIELDS.replace("==", ""),
                        FIELDS + "Origin: http://evil\r\n",
                        FIELDS + "Content-Length: 3\r\n\r\nabc")) {
            SimulatedPeer peer = ask("GET /socket HTTP/1.1", fields, behind);
            assertThat(answer(peer))
                    .as(fields)
                    .startsWith("HTTP/1.1 4")
                    .contains("\r\nConnection: close\r\n")
                    .doesNotContain("200 OK");
            assertThat(peer.isEnded()).as(fields).isTrue();
        }
        assertThat(told).isEmpty();
    }

    @Clause("K-1")
    @ParameterizedTest
    @ValueSource(strings = {"POST", "HEAD", "DELETE"})
    void otherMethods_areNotAllowed_andToldWhatIs(String method) {
        server();
        SimulatedPeer peer = ask(method + " /socket HTTP/1.1", FIELDS, "");
        assertThat(answer(peer))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: GET, OPTIONS\r\n");
    }

    @Clause({"K-1", "N-4"})
    @Test
    void socket_thatOpensWhenItsPeerHasEnded_hearsOfItAtOnce() {
        HttpServer server = HttpServer.on(world.loop());
        server.use(
                        (request, response, next) ->
                                Promise.delay(world.loop(), Duration.ofMillis(300))
                                        .thenCompose(_ -> next.handle(request, response)))
                .webSocket(
                        "/socket",
                        WebSocketConfig.DEFAULT.withPingInterval(Duration.ZERO),
                        socket -> socket.onClose((code, _) -> told.add("closed " + code)))
                .listen(80);
        SimulatedPeer peer = ask("GET /socket HTTP/1.1", FIELDS, "").halfClose();
        world.advance(Duration.ofSeconds(1));
        assertThat(told).containsExactly("closed 1006");
        peer.close();
        world.advance(Duration.ofSeconds(1));
        assertThat(server.connections()).isZero();
    }

    @Clause("K-1")
    @Test
    void socket_whosePeerTakesTooLittle_isClosed() {
        world.socketBuffers(4_096);
        HttpServer.on(
                        world.loop(),
                        HttpConfig.DEFAULT.withWriteTimeout(Duration.ofSeconds(10), 20_000))
                .webSocket(
                        "/socket",
                        WebSocketConfig.DEFAULT.withPingInterval(Duration.ZERO),
                        socket -> {
                            socket.onClose((code, _) -> told.add("closed " + code));
                            socket.onText(_ -> socket.send(new byte[4 << 20]));
                        })
                .listen(80);
        SimulatedPeer idle = ask("GET /socket HTTP/1.1", FIELDS, "");
        SimulatedPeer slow = ask("GET /socket HTTP/1.1", FIELDS, "");
        world.advance(Duration.ofSeconds(60));
        assertThat(told).as("nothing waits, so nobody is too slow").isEmpty();
        slow.pauseReading().onChange(SimulatedPeer::pauseReading);
        slow.send(new byte[] {(byte) 0x81, (byte) 0x80, 0, 0, 0, 0});
        world.run();
        for (int i = 0; i < 10 && told.isEmpty(); i++) {
            slow.resumeReading(); // It takes 4 KiB, and pauses again.
            world.advance(Duration.ofSeconds(5));
        }
        assertThat(told).containsExactly("closed 1006");
        assertThat(idle.isClosed()).isFalse();
    }
}
