package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.http.Cookie;
import dev.gyre.http.HttpServer;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;

class TestWebSocketTest {
    private static void routes(HttpServer server) {
        server.webSocket(
                "/echo",
                (request, socket) -> {
                    socket.send("cookie " + request.headers().get("Cookie"));
                    socket.onText(
                            text -> {
                                if (text.equals("bye")) {
                                    socket.close(4001, "as you wish");
                                } else {
                                    socket.send(text);
                                }
                            });
                    socket.onBinary(socket::send);
                });
        server.get(
                "/login", (_, response) -> response.cookie(Cookie.of("sid", "s1")).text("welcome"));
    }

    @ParameterizedTest
    @EnumSource
    void messages_areSentAndReceived(Setting setting) {
        setting.run(
                TestWebSocketTest::routes,
                client -> {
                    TestWebSocket socket = client.webSocket("/echo").expectText("cookie null");
                    socket.send("a").send("b").expectText("a").expectText("b");
                    socket.send(new byte[] {1, 2}).expectBinary(new byte[] {1, 2});
                    assertThat(socket.isOpen()).isTrue();
                    socket.send("bye").expectClosed(4001);
                    assertThat(socket.isOpen()).isFalse();
                    assertThat(socket.closeCode()).isEqualTo(4001);
                    assertThat(socket.closeReason()).isEqualTo("as you wish");
                });
    }

    @ParameterizedTest
    @EnumSource
    void close_completesTheHandshake(Setting setting) {
        setting.run(
                TestWebSocketTest::routes,
                client -> {
                    TestWebSocket socket = client.webSocket("/echo").expectText("cookie null");
                    socket.close();
                    socket.expectClosed(1000);
                });
    }

    @ParameterizedTest
    @EnumSource
    void webSocket_afterALogin_sendsTheCookies(Setting setting) {
        setting.run(
                TestWebSocketTest::routes,
                client -> {
                    client.get("/login").expectStatus(200);
                    client.webSocket("/echo").expectText("cookie sid=s1").close();
                    WebSocketConfig own = WebSocketConfig.DEFAULT.withHeader("Cookie", "x=y");
                    client.webSocket("/echo", own).expectText("cookie x=y").close();
                });
    }

    @ParameterizedTest
    @EnumSource
    void webSocket_ofAnotherRoute_fails(Setting setting) {
        setting.run(
                TestWebSocketTest::routes,
                client ->
                        assertThatThrownBy(() -> client.webSocket("/nowhere"))
                                .isInstanceOf(AssertionError.class)
                                .hasMessageStartingWith("WebSocket /nowhere was not opened: ")
                                .hasMessageContaining("404"));
    }

    @Test
    void expectations_thatDoNotHold_showTheMessages() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            routes(server);
            TestClient client =
                    TestClient.of(world, server.listen(80)).timeout(Duration.ofSeconds(2));
            TestWebSocket socket = client.webSocket("/echo").expectText("cookie null");
            assertThatThrownBy(() -> socket.send("a").expectText("b"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith(
                            """
                            expected "b" but was "a"

                            WebSocket /echo
                            ← "cookie null"
                            → "a"
                            ← "a"
                            """)
                    .hasMessageContaining("seed 1");
            assertThatThrownBy(socket::nextText)
                    .hasMessageStartingWith("expected a message: nothing within 2 s");
            assertThatThrownBy(socket::expectClosed)
                    .hasMessageStartingWith("expected the socket to be closed: nothing within 2 s");
            assertThatThrownBy(() -> socket.send("a").nextBinary())
                    .hasMessageStartingWith("expected a binary message but was \"a\"");
            assertThatThrownBy(() -> socket.send(new byte[70]).nextText())
                    .hasMessageStartingWith("expected text but was 70 bytes 00");
            assertThatThrownBy(() -> socket.send("a").expectClosed())
                    .hasMessageStartingWith("expected the socket to be closed but received \"a\"");
            socket.expectNoMessage(Duration.ofMinutes(1));
            assertThatThrownBy(() -> socket.send("a").expectNoMessage(Duration.ofMinutes(1)))
                    .hasMessageStartingWith("expected no message but was \"a\"");
            assertThatThrownBy(() -> socket.send("bye").expectClosed(1000))
                    .hasMessageStartingWith("expected close code 1000 but was 4001");
            assertThatThrownBy(socket::nextText)
                    .hasMessageStartingWith("expected a message but the socket was closed");
        }
    }
}
