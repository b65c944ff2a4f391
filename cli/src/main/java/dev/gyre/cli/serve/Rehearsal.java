package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.WebSocket;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// Asks a server for what a browser would, so that a JVM that looks on learns what is needed from the first request
/// on: of the demonstration, and of a directory of its own.
///
/// Loop thread only.
@SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
public final class Rehearsal {
    private static final String PREFIX = "/rehearsed";
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

    /// How often it asks for the same thing, at least, and on how many connections.
    public static final int REPEATED = Waves.REQUESTS;

    public static final int CONNECTIONS = Waves.CONNECTIONS;

    private final Path directory;
    private boolean failed;

    private Rehearsal(Path directory) {
        this.directory = directory;
    }

    /// Makes a directory, and has servers serve it beside what else they do.
    ///
    /// @throws IOException if it cannot be made
    public static Rehearsal with(ServerLoops loops) throws IOException {
        Path directory = Files.createTempDirectory("gyre-rehearsal-");
        Path _ =
                Files.writeString(
                        directory.resolve(FILE), "A line of text that compresses.\n".repeat(200));
        loops.forEach(
                server -> server.files(PREFIX, directory, FilesConfig.DEFAULT.withListing(true)));
        return new Rehearsal(directory);
    }

    /// Asks for everything once, and for one thing often.
    ///
    /// @param done called when all was asked, whatever came of it
    public void begin(EventLoop loop, InetSocketAddress server, Runnable done) {
        ask(loop, server, 0, () -> talk(loop, server, () -> repeat(loop, server, done)));
    }

    private void repeat(EventLoop loop, InetSocketAddress server, Runnable done) {
        Waves.begin(loop, server, done, () -> giveUp(done));
    }

    private void giveUp(Runnable done) {
        failed = true;
        done.run();
    }

    /// Removes what it has made.
    ///
    /// @return the exit status: a cache of half a rehearsal is worse than none
    public int end() {
        try {
            Files.deleteIfExists(directory.resolve(FILE));
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            return 1;
        }
        return failed ? 1 : 0;
    }

    private void ask(EventLoop loop, InetSocketAddress server, int index, Runnable done) {
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
                                    giveUp(done);
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

    private void talk(EventLoop loop, InetSocketAddress server, Runnable done) {
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
                                    giveUp(done);
                                    return null;
                                });
    }
}
