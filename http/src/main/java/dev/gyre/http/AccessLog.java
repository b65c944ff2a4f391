package dev.gyre.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.LogLine;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.Flushable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/// Writes a line for each request, when its answer is complete or its connection lost, and for what was no request and
/// refused.
///
/// ```java
/// try (var log = AccessLog.combined(Path.of("access.log"))) {
///     server.use(log);
///     …
/// }
/// ```
///
/// **Lines** are those of the Common or the Combined Log Format, with the time the answer took in seconds at the
/// end. What peers sent is escaped, so that a line is a line.
///
/// ```
/// 203.0.113.7 - - [16/Nov/2026:12:00:00 +0000] "GET /a?b=c HTTP/1.1" 200 5120 "-" "curl/8.5.0" 0.000214
/// ```
///
/// **The loop never waits** for it: lines go through a queue to a virtual thread that writes them. If that cannot
/// keep up and 8 192 of them wait, new ones are dropped, and counted ([#dropped()]).
///
/// **Files** are appended to, and what was written is in the file at the latest a second later, and on [#close()].
///
/// **Order.** First of all middleware, so that what the others answer is logged too.
///
/// **Failure.** A line that cannot be written is dropped, the first time with a warning to the system's logger
/// `dev.gyre.http`.
///
/// **Threads.** One serves any number of servers and loops; [#close()] on any thread but a loop's: it waits until
/// all is written.
public final class AccessLog implements Middleware, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.gyre.http");
    private static final int MOST_WAITING = 8_192;
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// That the end has come: no line has one.
    private static final String END = "\n";

    private interface Lines extends Consumer<String>, Flushable, Closeable {}

    private final boolean combined;
    private final InstantSource clock;
    private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(MOST_WAITING);
    private final LongAdder dropped = new LongAdder();
    private final Thread writer;

    // Shared: set by whoever closes it, read by loops.
    private volatile boolean closed;
    private final AtomicBoolean ending = new AtomicBoolean();

    private AccessLog(boolean combined, InstantSource clock, Lines lines) {
        this.combined = combined;
        this.clock = clock;
        writer = Thread.ofVirtual().name("gyre-access-log").start(() -> write(lines));
    }

    /// Lines in the Common Log Format, handed to a consumer, on one and the same virtual thread.
    public static AccessLog common(Consumer<? super String> lines) {
        return new AccessLog(false, InstantSource.system(), each(lines));
    }

    /// Lines in the Common Log Format, appended to a file.
    ///
    /// @throws UncheckedIOException if it cannot be opened
    public static AccessLog common(Path file) {
        return new AccessLog(false, InstantSource.system(), appending(file));
    }

    /// Lines in the Combined Log Format, handed to a consumer, on one and the same virtual thread.
    public static AccessLog combined(Consumer<? super String> lines) {
        return combined(lines, InstantSource.system());
    }

    static AccessLog combined(Consumer<? super String> lines, InstantSource clock) {
        return new AccessLog(true, clock, each(lines));
    }

    /// Lines in the Combined Log Format, appended to a file.
    ///
    /// @throws UncheckedIOException if it cannot be opened
    public static AccessLog combined(Path file) {
        return new AccessLog(true, InstantSource.system(), appending(file));
    }

    private static Lines each(Consumer<? super String> lines) {
        Objects.requireNonNull(lines, "lines");
        return new Lines() {
            @Override
            public void accept(String line) {
                lines.accept(line);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private static Lines appending(Path file) {
        BufferedWriter out;
        try {
            out =
                    Files.newBufferedWriter(
                            file, US_ASCII, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException("an access log cannot be opened: " + file, e);
        }
        return new Lines() {
            @Override
            public void accept(String line) {
                try {
                    out.append(line).append('\n');
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public void flush() throws IOException {
                out.flush();
            }

            @Override
            public void close() throws IOException {
                out.close();
            }
        };
    }

    // ------------------------------------------------------------------ requests

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        if (!closed) {
            long began = System.nanoTime();
            LogLine line = new LogLine(request, combined, clock.instant());
            response.onDone(
                    () ->
                            add(
                                    line.end(
                                            response.status(),
                                            response.contentBytes(),
                                            System.nanoTime() - began)));
        }
        return next.handle(request, response);
    }

    /// Writes a line for it too, with `-` for what is not known: `"GET /a -" 400 71`.
    @Override
    public void refused(RefusedRequest request) {
        if (!closed) {
            LogLine line = new LogLine(request, combined, clock.instant());
            add(line.end(request.status(), request.reason().length() + 1, 0));
        }
    }

    private void add(String line) {
        if (closed || !queue.offer(line)) {
            dropped.increment();
        }
    }

    /// How many lines were lost: too many waited, or writing failed, or the log was closed before the answer came.
    public long dropped() {
        return dropped.sum();
    }

    // ------------------------------------------------------------------ writing

    private void write(Lines lines) {
        boolean warned = false;
        boolean unflushed = false;
        long flushedAt = System.nanoTime();
        boolean ended = false;
        while (!ended) {
            try {
                long left = FLUSH_NANOS - (System.nanoTime() - flushedAt);
                String line =
                        unflushed
                                ? queue.poll(Math.max(0, left), TimeUnit.NANOSECONDS)
                                : queue.take();
                if (END.equals(line)) {
                    ended = true;
                } else if (line != null) {
                    if (!unflushed) {
                        flushedAt = System.nanoTime();
                    }
                    unflushed = true;
                    lines.accept(line);
                }
                if (ended || (unflushed && System.nanoTime() - flushedAt >= FLUSH_NANOS)) {
                    unflushed = false;
                    lines.flush();
                }
            } catch (IOException | RuntimeException e) {
                dropped.increment();
                if (!warned) {
                    warned = true;
                    LOG.log(System.Logger.Level.WARNING, "a line of the access log was lost", e);
                }
            } catch (InterruptedException e) {
                ended = true;
            }
        }
        try {
            lines.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "the access log was not closed well", e);
        }
    }

    /// Writes what waits, and ends. Twice is safe.
    @Override
    public void close() {
        closed = true;
        try {
            if (ending.compareAndSet(false, true)) {
                queue.put(END);
            }
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
