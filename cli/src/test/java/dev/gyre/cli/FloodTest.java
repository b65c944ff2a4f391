package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.http.HttpServer;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// Peers that send and never read, against servers with little memory: no traffic may end a
/// process.
final class FloodTest {
    private static final String SMALL_HEAP = "-Xmx32m";
    private static final int CONNECTIONS = 200;

    /// A flood ends when no byte was sent for this time, or after [#MAX_FLOOD_MILLIS].
    private static final int STALLED_MILLIS = 300;

    private static final int MAX_FLOOD_MILLIS = 1_000;
    private static final int TIMEOUT_MILLIS = 60_000;

    private static final String UPGRADE =
            """
            GET /ws/echo HTTP/1.1\r
            Host: a\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \r
            """;

    /// What peers send first, and over and over after that.
    private enum Flood {
        PIPELINED_REQUESTS("", "GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000)),
        BODIES(
                "",
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n"
                        + "x".repeat(60_000)),
        LONG_BODIES(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n",
                "x".repeat(60_000)),
        // Binary messages of 60 000 bytes, with a key of zeros.
        MESSAGES(UPGRADE, "\u0082\u00fe\u00ea`\0\0\0\0" + "x".repeat(60_000)),
        // The same of 1 000 000 bytes, with a longer header.
        LONG_MESSAGES(UPGRADE + "\u0082\u00ff\0\0\0\0\0\u000fB@\0\0\0\0", "x".repeat(60_000));

        final String first;
        final String again;

        Flood(String first, String again) {
            this.first = first;
            this.again = again;
        }
    }

    private static void flood(Flood flood, List<Integer> ports) throws IOException {
        List<SocketChannel> peers = new ArrayList<>();
        byte[] first = flood.first.getBytes(ISO_8859_1);
        byte[] again = flood.again.getBytes(ISO_8859_1);
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < CONNECTIONS; i++) {
                int port = ports.get(i % ports.size());
                SocketChannel peer =
                        SocketChannel.open(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                peers.add(peer);
                peer.write(ByteBuffer.wrap(first));
                peer.configureBlocking(false);
                peer.register(selector, SelectionKey.OP_WRITE, ByteBuffer.wrap(again));
            }
            long end = System.nanoTime() + MAX_FLOOD_MILLIS * 1_000_000L;
            while (System.nanoTime() < end && selector.select(STALLED_MILLIS) > 0) {
                selector.selectedKeys().forEach(FloodTest::send);
                selector.selectedKeys().clear();
            }
        } finally {
            for (SocketChannel peer : peers) {
                peer.close();
            }
        }
    }

    private static void send(SelectionKey key) {
        ByteBuffer message = (ByteBuffer) key.attachment();
        try {
            ((SocketChannel) key.channel()).write(message);
            if (!message.hasRemaining()) {
                message.clear();
            }
        } catch (IOException e) {
            key.cancel(); // The server has shed it.
        }
    }

    /// Asks until it is served: a server that sheds may refuse at first.
    private static void requireServed(Program server, int port) throws Exception {
        long end = System.nanoTime() + TIMEOUT_MILLIS * 1_000_000L;
        String response = "";
        while (!response.startsWith("HTTP/1.1 200 ") && System.nanoTime() < end) {
            assertThat(server.isAlive()).as("the server's process lives").isTrue();
            try (Socket polite = new Socket(InetAddress.getLoopbackAddress(), port)) {
                polite.setSoTimeout(TIMEOUT_MILLIS);
                polite.getOutputStream()
                        .write(
                                "GET /plaintext HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                                        .getBytes(US_ASCII));
                response = new String(polite.getInputStream().readAllBytes(), US_ASCII);
            } catch (IOException e) {
                response = e.toString();
            }
        }
        assertThat(response).startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void serve_floodedByPeersThatNeverRead_livesAndServesOthers(String backend) throws Exception {
        String[] arguments = {"serve", "--port", "0", "--backend", backend, "--loops", "2"};
        try (Program server = Program.startWith(SMALL_HEAP, arguments)) {
            int port = ServeTest.port(server);
            for (Flood flood : Flood.values()) {
                flood(flood, List.of(port));
                requireServed(server, port);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void library_floodedOnSeveralLoops_livesAndServesOthers(String backend) throws Exception {
        try (Program server = Program.startMain(SMALL_HEAP, Library.class, backend)) {
            List<Integer> ports = new ArrayList<>();
            for (int i = 0; i < Library.LOOPS; i++) {
                ports.add(Integer.parseInt(server.out()));
            }
            for (Flood flood : Flood.values()) {
                flood(flood, ports);
                for (int port : ports) {
                    requireServed(server, port);
                }
            }
        }
    }

    /// A program on the library, with default settings: one that fails exits.
    static final class Library {
        static final int LOOPS = 3;

        private Library() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < LOOPS; i++) {
                Thread.ofPlatform().start(() -> serve(BackendKind.of(arguments[0])));
            }
        }

        @SuppressWarnings("SystemOut") // it has no other voice
        private static void serve(BackendKind backend) {
            try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend))) {
                HttpServer server =
                        HttpServer.on(loop)
                                .get("/plaintext", (_, response) -> response.text("Hello"))
                                .post(
                                        "/echo",
                                        (request, response) ->
                                                request.body().bytes().then(response::send))
                                .webSocket("/ws/echo", socket -> socket.onBinary(socket::send));
                server.listen(0);
                synchronized (System.out) {
                    System.out.println(((InetSocketAddress) server.address()).getPort());
                }
                loop.run();
            } finally {
                Runtime.getRuntime().halt(1);
            }
        }
    }
}
