package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.BackendKind;
import dev.gyre.CancellationSource;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Outcome;
import dev.gyre.Promise;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/// Unsolicited input over real sockets. The kernel has the server's output when its writes return,
/// so before the next request.
class HttpClientUnaskedTest {
    private static final String FORGED = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";

    /// Provides an idle connection.
    @FunctionalInterface
    private interface Keeping {
        SocketChannel keepOne(EventLoop loop, ServerSocketChannel server, HttpClient client)
                throws IOException;
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void answer_thatLiesInTheKernelWhenACallIsMade_isNotItsAnswer(BackendKind backend)
            throws IOException {
        assertForgedIsNotBelieved(backend, HttpClientUnaskedTest::answerOnce);
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void answer_onAConnectionThatCarriedNothingYet_isNotThatOfItsFirstCall(BackendKind backend)
            throws IOException {
        assertForgedIsNotBelieved(backend, HttpClientUnaskedTest::leaveOneUnused);
    }

    private static void assertForgedIsNotBelieved(BackendKind backend, Keeping keeping)
            throws IOException {
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
                HttpClient client = HttpClient.on(loop);
                ServerSocketChannel server = server()) {
            for (int i = 0; i < 20; i++) {
                SocketChannel kept = keeping.keepOne(loop, server, client);
                write(kept, FORGED);
                assertThat(post(loop, server, client)).isEqualTo("true");
                kept.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void end_thatLiesInTheKernelWhenACallIsMade_sendsItElsewhere(BackendKind backend)
            throws IOException {
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend));
                HttpClient client = HttpClient.on(loop);
                ServerSocketChannel server = server()) {
            answerOnce(loop, server, client).close();
            assertThat(post(loop, server, client)).isEqualTo("true");
        }
    }

    /// Has the client keep a connection whose call was cancelled before it was open.
    private static SocketChannel leaveOneUnused(
            EventLoop loop, ServerSocketChannel server, HttpClient client) throws IOException {
        CancellationSource caller = new CancellationSource();
        Promise<ClientResponse> call =
                client.request("GET", uri(server)).cancelOn(caller.cancellation()).send();
        call.then(_ -> null, _ -> null); // So that nobody reports it.
        caller.cancel("not wanted any more");
        SocketChannel peer = accept(loop, server);
        runUntil(loop, "it is kept", () -> call.isSettled() && client.connections() == 1);
        return peer;
    }

    private static ServerSocketChannel server() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        server.configureBlocking(false);
        return server;
    }

    private static URI uri(ServerSocketChannel server) throws IOException {
        int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
        return URI.create("http://127.0.0.1:" + port + "/");
    }

    /// Completes an exchange on a connection that the client keeps.
    private static SocketChannel answerOnce(
            EventLoop loop, ServerSocketChannel server, HttpClient client) throws IOException {
        Promise<ClientResponse> call = client.get(uri(server));
        SocketChannel peer = accept(loop, server);
        answer(loop, peer, "first");
        assertThat(text(loop, call)).isEqualTo("first");
        return peer;
    }

    private static String post(EventLoop loop, ServerSocketChannel server, HttpClient client)
            throws IOException {
        Promise<ClientResponse> call = client.request("POST", uri(server)).send("content");
        call.then(_ -> null, _ -> null); // So that nobody reports it.
        try (SocketChannel peer = accept(loop, server)) {
            answer(loop, peer, "true");
            String text = text(loop, call);
            assertThat(client.connections()).isEqualTo(1);
            return text;
        } finally {
            // The next round starts with a new connection.
            runUntil(loop, "the end is noticed", () -> client.connections() == 0);
        }
    }

    private static SocketChannel accept(EventLoop loop, ServerSocketChannel server)
            throws IOException {
        SocketChannel[] peer = new SocketChannel[1];
        runUntil(
                loop,
                "accepted",
                () -> {
                    try {
                        peer[0] = server.accept();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                    return peer[0] != null;
                });
        peer[0].configureBlocking(false);
        return peer[0];
    }

    private static void answer(EventLoop loop, SocketChannel peer, String text) throws IOException {
        ByteBuffer request = ByteBuffer.allocate(4_096);
        runUntil(
                loop,
                "asked",
                () -> {
                    try {
                        return peer.read(request) > 0;
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
        write(peer, "HTTP/1.1 200 OK\r\nContent-Length: " + text.length() + "\r\n\r\n" + text);
    }

    private static void write(SocketChannel peer, String text) throws IOException {
        peer.write(ByteBuffer.wrap(text.getBytes(ISO_8859_1)));
    }

    private static String text(EventLoop loop, Promise<ClientResponse> call) {
        runUntil(loop, "answered", call::isSettled);
        return switch (call.outcome()) {
            case Outcome.Resolved(ClientResponse answer) -> answer.text();
            case Outcome.Rejected(Throwable why) -> String.valueOf(why);
        };
    }

    /// Runs the loop until a condition holds. The timeout only limits a failing test.
    private static void runUntil(EventLoop loop, String what, BooleanSupplier holds) {
        long giveUpNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - giveUpNanos)
                    .as("waited for 20 seconds and it does not hold: %s", what)
                    .isNegative();
            loop.runFor(Duration.ofMillis(1));
        }
    }
}
