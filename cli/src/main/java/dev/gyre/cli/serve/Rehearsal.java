package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.WebSocket;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;

/// Asks a server for what a browser would, so that a JVM that looks on learns what is needed from the first request
/// on.
@SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
public final class Rehearsal {
    private static final List<String> REQUESTS =
            List.of(
                    "GET / HTTP/1.1\r\n\r\n",
                    "GET /plaintext HTTP/1.1\r\n\r\n",
                    "GET /json HTTP/1.1\r\n\r\n",
                    "GET /large?bytes=300000 HTTP/1.1\r\n\r\n",
                    "GET /slow?ms=1 HTTP/1.1\r\n\r\n",
                    "GET /metrics HTTP/1.1\r\n\r\n",
                    "GET /nowhere HTTP/1.1\r\n\r\n",
                    "POST /echo HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
                    "POST /echo HTTP/1.1\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n"
                            + "5\r\n"
                            + "hello\r\n"
                            + "0\r\n\r\n");

    /// How many requests it repeats, at least, and on how many connections.
    public static final int REPEATED = Crowd.REQUESTS;

    public static final int CONNECTIONS = Crowd.ALL_CONNECTIONS;

    private Rehearsal() {}

    /// Asks for everything once, and for one thing often.
    ///
    /// @param done called when all was asked, whatever came of it
    public static void of(EventLoop loop, InetSocketAddress server, Runnable done) {
        ask(loop, server, 0, () -> talk(loop, server, () -> Crowd.gather(loop, server, done)));
    }

    private static void ask(EventLoop loop, InetSocketAddress server, int index, Runnable done) {
        if (index == REQUESTS.size()) {
            done.run();
            return;
        }
        Promise<@Nullable Void> _ =
                Stream.connect(loop, server)
                        .then(
                                stream -> {
                                    exchange(
                                            stream,
                                            REQUESTS.get(index),
                                            () -> ask(loop, server, index + 1, done));
                                    return null;
                                },
                                _ -> {
                                    done.run();
                                    return null;
                                });
    }

    private static void exchange(Stream stream, String request, Runnable next) {
        Stream _ = stream.onData(data -> data.clear()).onClose(_ -> next.run());
        boolean _ =
                stream.write(
                        request.replaceFirst(
                                "\r\n", "\r\nHost: localhost\r\nConnection: close\r\n"));
    }

    private static void talk(EventLoop loop, InetSocketAddress server, Runnable done) {
        URI uri = URI.create("ws://127.0.0.1:" + server.getPort() + "/ws/echo");
        Promise<@Nullable Void> _ =
                WebSocket.connect(loop, uri)
                        .then(
                                socket -> {
                                    socket.onText(_ -> socket.close())
                                            .onClose((_, _) -> done.run());
                                    boolean _ = socket.send("hello");
                                    return null;
                                },
                                _ -> {
                                    done.run();
                                    return null;
                                });
    }
}
