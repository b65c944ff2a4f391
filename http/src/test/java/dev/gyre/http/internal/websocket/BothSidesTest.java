package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/// Our client and our server, over sockets of the real kernel.
class BothSidesTest {
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final EventLoop loop =
            EventLoop.open(LoopConfig.DEFAULT.withMaxWait(Duration.ofSeconds(5)));
    private final List<String> events = new ArrayList<>();
    private WebSocket server;
    private WebSocket client;

    @AfterEach
    void close() {
        loop.close();
    }

    private void runUntil(String what, BooleanSupplier condition) {
        // A guard against waiting for ever, never the verdict on what happens in time.
        long deadline = loop.nanoTime() + LONGEST.toNanos();
        while (!condition.getAsBoolean() && loop.nanoTime() < deadline) {
            loop.runSome();
        }
        assertThat(condition.getAsBoolean()).as("%s; so far: %s", what, events).isTrue();
    }

    private <T> T outcome(Promise<T> promise) {
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        runUntil("settled", promise::isSettled);
        return switch (promise.outcome()) {
            case Outcome.Resolved<T>(T value) -> value;
            case Outcome.Rejected<T>(Throwable reason) ->
                    throw new AssertionError("the promise was broken", reason);
        };
    }

    private Throwable failure(Promise<?> promise) {
        promise.then(_ -> null, _ -> null);
        runUntil("settled", promise::isSettled);
        assertThat(promise.outcome()).isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<?>) promise.outcome()).reason();
    }

    private static URI uri(String scheme, Listener listener, String target) {
        int port = ((InetSocketAddress) listener.address()).getPort();
        return URI.create(scheme + "://127.0.0.1:" + port + target);
    }

    private void connect(WebSocketConfig serving, WebSocketConfig asking) {
        Listener listener =
                UpgradeServer.listen(
                        loop, ListenerConfig.DEFAULT, serving, socket -> server = socket);
        client = outcome(WebSocket.connect(loop, uri("ws", listener, "/chat?room=7"), asking));
        server.onText(text -> events.add("server " + text))
                .onBinary(data -> events.add("server " + data.readable()))
                .onClose((code, reason) -> events.add("server closed " + code + reason));
        client.onText(text -> events.add("client " + text))
                .onBinary(data -> events.add("client " + data.readable()))
                .onClose((code, reason) -> events.add("client closed " + code + reason));
    }

    private void connect() {
        connect(WebSocketConfig.DEFAULT, WebSocketConfig.DEFAULT);
    }

    @Clause("K-1")
    @Test
    void messages_goBothWays() {
        connect();
        client.send("hello");
        server.send("héllo back");
        client.send(new byte[200_000]);
        client.send(WebSocketMessage.text("encoded"));
        server.send(Buffer.allocate(3).put(new byte[3]));
        runUntil("all five", () -> events.size() == 5);
        assertThat(events)
                .containsExactlyInAnyOrder(
                        "server hello",
                        "client héllo back",
                        "server 200000",
                        "server encoded",
                        "client 3");
        assertThat(server.target()).isEqualTo("/chat?room=7");
        assertThat(client.target()).isEqualTo("/chat?room=7");
    }

    @Clause("K-1")
    @Test
    void compression_isAgreedOn_unlessOneSideDoesNotWantIt() {
        WebSocketConfig off = WebSocketConfig.DEFAULT.withCompression(false);
        connect();
        assertThat(client.isCompressed()).isTrue();
        assertThat(server.isCompressed()).isTrue();
        connect(off, WebSocketConfig.DEFAULT);
        assertThat(client.isCompressed()).isFalse();
        connect(WebSocketConfig.DEFAULT, off);
        assertThat(server.isCompressed()).isFalse();
    }

    @Clause("K-1")
    @Test
    void protocol_isWhatBothSpeak() {
        connect(
                WebSocketConfig.DEFAULT.withProtocols("v3", "v2"),
                WebSocketConfig.DEFAULT.withProtocols("v1", "v2"));
        assertThat(client.protocol()).isEqualTo("v2");
        assertThat(server.protocol()).isEqualTo("v2");
    }

    @Clause("K-1")
    @Test
    void close_byTheClient_isToldToBoth() {
        connect();
        client.close(4001, " done");
        runUntil("both are told", () -> events.size() == 2);
        assertThat(events).containsExactly("server closed 4001 done", "client closed 4001");
    }

    @Clause("K-1")
    @Test
    void close_byTheServer_isToldToBoth_andItClosesFirst() {
        connect();
        server.close();
        runUntil("both are told", () -> events.size() == 2);
        assertThat(events).containsExactlyInAnyOrder("client closed 1000", "server closed 1000");
    }

    @Clause("K-1")
    @Test
    void message_thatComesRightBehindTheUpgrade_waitsForTheCallbacks() {
        Listener listener =
                UpgradeServer.listen(
                        loop,
                        ListenerConfig.DEFAULT,
                        WebSocketConfig.DEFAULT,
                        socket -> socket.send("welcome"));
        WebSocket.connect(loop, uri("ws", listener, "/"))
                .then(socket -> socket)
                .thenAccept(socket -> socket.onText(events::add));
        runUntil("the greeting", () -> !events.isEmpty());
        assertThat(events).containsExactly("welcome");
    }

    @Clause("K-1")
    @Test
    void tls_isSpokenByWss() {
        Listener listener =
                UpgradeServer.listen(
                        loop,
                        ListenerConfig.DEFAULT.withTls(Tls.selfSigned("127.0.0.1")),
                        WebSocketConfig.DEFAULT,
                        socket -> socket.onText(socket::send));
        Tls trusting = Tls.client().withoutVerification();
        WebSocketConfig config =
                WebSocketConfig.DEFAULT.withStreams(StreamConfig.DEFAULT.withTls(trusting));
        client = outcome(WebSocket.connect(loop, uri("wss", listener, "/"), config));
        client.onText(events::add);
        client.send("secret");
        runUntil("the echo", () -> events.contains("secret"));
    }

    @Clause("K-1")
    @Test
    void answer_thatIsNoUpgrade_rejectsWithWhatItWas() {
        assertThat(failure(answeredWith("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")))
                .isInstanceOf(ProtocolException.class)
                .hasMessageContaining("404 Not Found");
        String head = "HTTP/1.1 101 Switching Protocols\r\n";
        assertThat(failure(answeredWith(head + "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n")))
                .hasMessageContaining("another protocol");
        assertThat(
                        failure(
                                answeredWith(
                                        head
                                                + "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                                                + "Sec-WebSocket-Accept: AAAA\r\n\r\n")))
                .hasMessageContaining("does not match the key");
        assertThat(failure(answeredWith("SSH-2.0-OpenSSH\r\n\r\n")))
                .hasMessageContaining("not HTTP");
        assertThat(failure(answeredWith("x".repeat(20_000)))).hasMessageContaining("not HTTP");
        assertThat(failure(answeredWith(head + "A: " + "x".repeat(20_000))))
                .hasMessageContaining("larger than the receiver's limit");
        assertThat(failure(answeredWith("HTTP/1.0 101 Yes\r\n\r\n")))
                .hasMessageContaining("HTTP/1.0");
        assertThat(failure(answeredWith(""))).hasMessageContaining("before it responded");
    }

    @Clause("K-1")
    @Test
    void interimAnswers_beforeTheUpgrade_arePassedOver_butNotForEver() {
        String interim = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
        assertThat(failure(answeredWith(interim.repeat(3) + "HTTP/1.1 404 No\r\n\r\n")))
                .hasMessageContaining("404");
        assertThat(failure(answeredWith(interim.repeat(100)))).hasMessageContaining("103");
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> {
                            stream.write("HTTP/1.1 100 Continue\r\n\r\n" + interim);
                            stream.protocol(
                                    new BadServer("", Frames.frame(0x81, Frames.utf8("x"), false)));
                        });
        outcome(WebSocket.connect(loop, uri("ws", listener, "/"))).onText(events::add);
        runUntil("a message", () -> events.contains("x"));
    }

    @Clause("K-1")
    @Test
    void tls_ofAClient_offersHttp() {
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.onData(data -> events.add(data.getText(ISO_8859_1))));
        int port = ((InetSocketAddress) listener.address()).getPort();
        WebSocket.connect(loop, URI.create("wss://localhost:" + port + "/"));
        runUntil("the first message of TLS", () -> !events.isEmpty());
        assertThat(events.getFirst()).as("ALPN").contains("http/1.1");
    }

    @Clause("K-1")
    @Test
    void fields_ofTheClients_areSent() {
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.onData(data -> events.add(data.getText(UTF_8))));
        WebSocketConfig config =
                WebSocketConfig.DEFAULT
                        .withHeader("Authorization", "Bearer x")
                        .withHeader("Origin", "http://here");
        WebSocket.connect(loop, uri("ws", listener, "/"), config);
        runUntil("the request", () -> !events.isEmpty());
        assertThat(events.getFirst())
                .contains("\r\nAuthorization: Bearer x\r\n")
                .contains("\r\nOrigin: http://here\r\n")
                .endsWith("\r\n\r\n");
    }

    @Clause("K-1")
    @Test
    void fields_thatAreNone_orTheUpgrades_areRefusedAtOnce() {
        for (String wrong : List.of("", "a b", "Host", "upgrade", "Sec-WebSocket-Key")) {
            assertThatThrownBy(() -> WebSocketConfig.DEFAULT.withHeader(wrong, "x"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> WebSocketConfig.DEFAULT.withHeader("A", "x".repeat(1 << 20)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> WebSocketConfig.DEFAULT.withHeader("A", "x\r\nB: y"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /// What answers by itself is made in the memory that the ping is in.
    @Clause("K-1")
    @Test
    void ping_thatAClientIsTold_isWhatWasSent() {
        connect();
        client.onPing(ping -> events.add("ping " + ping.getText(UTF_8)));
        server.ping((byte) 'a', (byte) 'b');
        runUntil("the ping", () -> !events.isEmpty());
        assertThat(events).containsExactly("ping ab");
    }

    private Promise<WebSocket> answeredWith(String answer) {
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream ->
                                stream.onData(
                                        data -> {
                                            data.clear();
                                            stream.write(answer);
                                            stream.end();
                                        }));
        return WebSocket.connect(loop, uri("ws", listener, "/"));
    }

    @Clause("K-1")
    @Test
    void answer_thatNeverComes_rejectsInTime() {
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.onData(Buffer::clear));
        WebSocketConfig hasty =
                WebSocketConfig.DEFAULT.withStreams(
                        StreamConfig.DEFAULT.withConnectTimeout(Duration.ofMillis(50)));
        assertThat(failure(WebSocket.connect(loop, uri("ws", listener, "/"), hasty)))
                .isInstanceOf(SocketTimeoutException.class);
    }

    @Clause("K-1")
    @Test
    void uri_thatIsNoneOfAWebSocket_isRefusedAtOnce() {
        for (String wrong :
                List.of("http://here/", "ws:here", "ws://u:p@here/", "ws://here/#part", "/x")) {
            assertThatThrownBy(() -> WebSocket.connect(loop, URI.create(wrong)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(wrong);
        }
    }

    /// A server's frames have no mask; all else holds for a client as it does for a server.
    @Clause("K-1")
    @Test
    void client_whoseServerBreaksTheRules_closesWithTheRightCode() {
        assertThat(clientsEnd(Frames.frame(0x81, Frames.utf8("x"), true))).isEqualTo(1002);
        assertThat(clientsEnd(Frames.frame(0xb1, Frames.utf8("x"), false))).isEqualTo(1002);
        assertThat(clientsEnd(Frames.frame(0x81, new byte[] {(byte) 0xff}, false))).isEqualTo(1007);
        assertThat(clientsEnd(Frames.frame(0x82, new byte[(1 << 20) + 1], false))).isEqualTo(1009);
    }

    private int clientsEnd(byte[] fromServer) {
        List<Integer> codes = new ArrayList<>();
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.protocol(new BadServer("", fromServer)));
        WebSocket.connect(loop, uri("ws", listener, "/"))
                .thenAccept(socket -> socket.onClose((code, _) -> codes.add(code)));
        runUntil("the client has closed", () -> !codes.isEmpty());
        return codes.getFirst();
    }

    @Clause("K-1")
    @Test
    void client_whoseServerWantsAnExtensionThatWasNotOffered_isRejected() {
        String forgets = "permessage-deflate; server_no_context_takeover";
        for (String agreed :
                List.of(
                        forgets,
                        forgets + "; client_no_context_takeover",
                        forgets + "; server_max_window_bits=8",
                        forgets + "; server_max_window_bits=15")) {
            assertThat(outcome(connectToServerThatWants(agreed)).isOpen()).as(agreed).isTrue();
        }
        for (String wrong :
                List.of(
                        "permessage-deflate",
                        "permessage-deflate; client_no_context_takeover",
                        "permessage-bzip2; server_no_context_takeover",
                        forgets + ", permessage-deflate",
                        forgets + "=1",
                        forgets + "; client_no_context_takeover=1",
                        forgets + "; client_max_window_bits=15",
                        forgets + "; server_max_window_bits",
                        forgets + "; server_max_window_bits=7",
                        forgets + "; server_max_window_bits=16",
                        forgets + "; server_max_window_bits=08",
                        forgets + "; other",
                        forgets + ";",
                        forgets + "\r\nSec-WebSocket-Extensions: " + forgets)) {
            assertThat(failure(connectToServerThatWants(wrong)))
                    .as(wrong)
                    .hasMessageContaining("extensions that were not offered");
        }
    }

    private Promise<WebSocket> connectToServerThatWants(String extensions) {
        String header = "Sec-WebSocket-Extensions: " + extensions + "\r\n";
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream -> stream.protocol(new BadServer(header, new byte[0])));
        return WebSocket.connect(loop, uri("ws", listener, "/"));
    }
}
