package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.Middleware;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/// A line for each request, as many servers write it, and how many microseconds the answer took.
///
/// ```
/// 127.0.0.1 - - [16/Nov/2026:12:00:00 +0000] "GET /json HTTP/1.1" 200 27 85
/// ```
///
/// One thread writes for all loops, which never wait for it: lines that it cannot keep up with are dropped, and
/// counted in [#dropped()].
public final class AccessLog implements Middleware, AutoCloseable {
    private static final int MOST_WAITING = 16 << 10;
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH);

    /// Behind the last line.
    private static final String END = "";

    private final PrintWriter to;
    private final boolean closing;
    private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(MOST_WAITING);
    private final AtomicLong dropped = new AtomicLong();
    private final Thread thread;

    private AccessLog(PrintWriter to, boolean closing) {
        this.to = to;
        this.closing = closing;
        thread = Thread.ofPlatform().name("access-log").daemon().start(this::write);
    }

    /// Adds to a file.
    ///
    /// @throws IOException if it cannot be written
    public static AccessLog to(Path file) throws IOException {
        return new AccessLog(
                new PrintWriter(
                        Files.newBufferedWriter(
                                file,
                                StandardCharsets.UTF_8,
                                StandardOpenOption.CREATE,
                                StandardOpenOption.APPEND)),
                true);
    }

    /// Writes to what is somebody else's to close.
    public static AccessLog to(PrintWriter writer) {
        return new AccessLog(writer, false);
    }

    /// How many lines were dropped.
    public long dropped() {
        return dropped.get();
    }

    // ------------------------------------------------------------------ the loops' side

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        EventLoop loop = request.loop();
        long begun = loop.nanoTime();
        // Now: a request is over when it is answered.
        String asked =
                "%s - - [%s] \"%s %s HTTP/1.%d\""
                        .formatted(
                                host(request.peer()),
                                TIME.format(ZonedDateTime.now()),
                                request.method(),
                                request.target().replace("\"", "%22"),
                                request.isHttp10() ? 0 : 1);
        Response _ = response.onDone(() -> add(asked, response, (loop.nanoTime() - begun) / 1_000));
        return next.handle(request, response);
    }

    private void add(String asked, Response response, long micros) {
        String line =
                asked + " " + response.status() + " " + response.contentBytes() + " " + micros;
        if (!waiting.offer(line)) {
            dropped.incrementAndGet();
        }
    }

    private static String host(SocketAddress peer) {
        return peer instanceof InetSocketAddress internet
                ? internet.getAddress().getHostAddress()
                : "unix";
    }

    // ------------------------------------------------------------------ the thread's side

    private void write() {
        try {
            for (String line = waiting.take(); !line.equals(END); line = next()) {
                to.println(line);
            }
        } catch (InterruptedException e) {
            // Whoever interrupts does not want the rest.
        }
        to.flush();
        if (closing) {
            to.close();
        }
    }

    private String next() throws InterruptedException {
        @Nullable String line = waiting.poll();
        if (line != null) {
            return line;
        }
        to.flush();
        return waiting.take();
    }

    /// Writes what waits, for two seconds at most.
    @Override
    public void close() {
        try {
            waiting.put(END);
            thread.join(2_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
