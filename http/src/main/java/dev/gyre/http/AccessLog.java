package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.LogFile;
import dev.gyre.http.internal.server.LogLine;

import org.jspecify.annotations.Nullable;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
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
/// A request whose peer left before anybody answered has the status 499. An answer that was cut off, by the peer or
/// by a handler that failed in the middle of it, has ` cut-off` behind the time.
///
/// **The loop never waits** for it: lines go through a queue to a virtual thread that writes them. If that cannot
/// keep up and 8 192 of them wait, new ones are dropped, and counted ([#dropped()]).
///
/// **Files** are appended to, and what was written is in the file at the latest a second later, and on [#close()].
///
/// **Order.** First of all middleware, so that what the others answer is logged too.
///
/// **Failure.** A line that cannot be written is dropped, and counted, the first time with a warning to the system's logger
/// `dev.gyre.http`. Whatever a consumer throws costs its own line only.
///
/// **Threads.** One serves any number of servers and loops; [#close()] on any thread but a loop's: it waits until
/// all is written, five seconds at most.
public final class AccessLog implements Middleware, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.gyre.http");
    private static final int MOST_WAITING = 8_192;
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// So long a consumer may take for the rest: one that hangs would keep the process from ending.
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /// That the end has come: no line has one.
    private static final String END = "\n";

    /// Where lines go. Both methods say how many turned out to be lost.
    private interface Lines extends Closeable {
        int add(String line);

        int flush();

        @Nullable Throwable failure();
    }

    private final boolean combined;
    private final InstantSource clock;
    private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(MOST_WAITING);
    private final LongAdder dropped = new LongAdder();
    private final Thread writer;

    /// That of the writer only.
    private boolean warned;

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
            public int add(String line) {
                lines.accept(line);
                return 0;
            }

            @Override
            public int flush() {
                return 0;
            }

            @Override
            public @Nullable Throwable failure() {
                return null;
            }

            @Override
            public void close() {}
        };
    }

    private static Lines appending(Path path) {
        LogFile file = new LogFile(path);
        return new Lines() {
            @Override
            public int add(String line) {
                return file.add(line);
            }

            @Override
            public int flush() {
                return file.flush();
            }

            @Override
            public @Nullable Throwable failure() {
                return file.failure();
            }

            @Override
            public void close() throws IOException {
                file.close();
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
                                            System.nanoTime() - began,
                                            response.isCutOff())));
        }
        return next.handle(request, response);
    }

    /// Writes a line for it too, with `-` for what is not known: `"GET /a -" 400 71`.
    @Override
    public void refused(RefusedRequest request) {
        if (!closed) {
            LogLine line = new LogLine(request, combined, clock.instant());
            add(line.end(request.status(), request.reason().length() + 1, 0, false));
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
                    addTo(lines, line);
                }
                if (ended || (unflushed && System.nanoTime() - flushedAt >= FLUSH_NANOS)) {
                    unflushed = false;
                    lost(lines.flush(), lines.failure());
                }
            } catch (InterruptedException e) {
                ended = true;
                lost(lines.flush(), lines.failure());
            }
        }
        try {
            lines.close();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, "the access log was not closed well", e);
        }
    }

    @SuppressWarnings("CatchingUnchecked") // Whatever it is: without this thread nothing is logged.
    private void addTo(Lines lines, String line) {
        try {
            lost(lines.add(line), lines.failure());
        } catch (Throwable e) {
            lost(1, e);
        }
    }

    private void lost(int lines, @Nullable Throwable why) {
        if (lines > 0) {
            dropped.add(lines);
            if (!warned) {
                warned = true;
                LOG.log(System.Logger.Level.WARNING, "lines of the access log were lost", why);
            }
        }
    }

    /// Writes what waits, and ends. Lines that a consumer does not take within five seconds are dropped. Twice is safe.
    @Override
    public void close() {
        close(CLOSE_NANOS);
    }

    void close(long patienceNanos) {
        closed = true;
        long giveUpAt = System.nanoTime() + patienceNanos;
        try {
            if (ending.compareAndSet(false, true)) {
                boolean _ = queue.offer(END, patienceNanos, TimeUnit.NANOSECONDS);
            }
            long left = Math.max(0, giveUpAt - System.nanoTime());
            if (!writer.join(Duration.ofNanos(left))) {
                writer.interrupt();
                for (String line = queue.poll(); line != null; line = queue.poll()) {
                    dropped.add(END.equals(line) ? 0 : 1);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
