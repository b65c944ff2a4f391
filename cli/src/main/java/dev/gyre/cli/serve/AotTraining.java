package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.WebSocket;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Sends typical requests to a server, so that a recording JVM caches the classes and profiles that
/// the first request needs. It covers the demo and a temporary directory.
///
/// Loop thread only.
@SuppressWarnings("StringConcatToTextBlock") // line ends are part of the protocol
public final class AotTraining {
    private static final String PREFIX = "/training";
    private static final String FILE = "page.txt";

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
                            + "0\r\n\r\n",
                    "GET " + PREFIX + "/ HTTP/1.1\r\n\r\n",
                    "GET " + PREFIX + "/page.txt HTTP/1.1\r\n\r\n",
                    "GET " + PREFIX + "/page.txt HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n",
                    "GET " + PREFIX + "/page.txt HTTP/1.1\r\nRange: bytes=0-9\r\n\r\n",
                    "GET " + PREFIX + "/page.txt HTTP/1.1\r\nIf-None-Match: *\r\n\r\n",
                    "GET " + PREFIX + "/missing.txt HTTP/1.1\r\n\r\n");

    /// The min number of repetitions of the same request, and their connections.
    public static final int REPEATED = TrainingLoad.REQUESTS;

    public static final int CONNECTIONS = TrainingLoad.CONNECTIONS;

    private final Path directory;
    private boolean failed;

    private AotTraining(Path directory) {
        this.directory = directory;
    }

    /// Creates a directory, and adds it to the server.
    ///
    /// @throws IOException if the directory cannot be created
    public static AotTraining with(HttpServerGroup server) throws IOException {
        Path directory = Files.createTempDirectory("gyre-training-");
        Path _ =
                Files.writeString(
                        directory.resolve(FILE), "A line of text that compresses.\n".repeat(200));
        server.files(PREFIX, directory, FilesConfig.DEFAULT.withListing(true));
        return new AotTraining(directory);
    }

    /// Sends each request once, and one request often.
    ///
    /// @param done called when finished, successfully or not
    public void begin(EventLoop loop, InetSocketAddress server, Runnable done) {
        send(loop, server, 0, () -> chat(loop, server, () -> repeat(loop, server, done)));
    }

    private void repeat(EventLoop loop, InetSocketAddress server, Runnable done) {
        TrainingLoad.begin(loop, server, done, () -> fail(done));
    }

    private void fail(Runnable done) {
        failed = true;
        done.run();
    }

    /// Deletes the directory.
    ///
    /// @return the exit status: a cache of a partial training is worse than none
    public int end() {
        try {
            Files.deleteIfExists(directory.resolve(FILE));
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            return 1;
        }
        return failed ? 1 : 0;
    }

    private void send(EventLoop loop, InetSocketAddress server, int index, Runnable done) {
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
                                            () -> send(loop, server, index + 1, done));
                                    return null;
                                },
                                _ -> {
                                    fail(done);
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

    private void chat(EventLoop loop, InetSocketAddress server, Runnable done) {
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
                                    fail(done);
                                    return null;
                                });
    }
}
