package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.server.AccessLogFile;
import dev.gyre.http.internal.server.AccessLogLine;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/// Logs one line per request, once its response is complete or its connection lost. Requests
/// rejected before routing are logged too.
///
/// ```java
/// try (var log = AccessLog.combined(Path.of("access.log"))) {
///     server.use(log);
///     …
/// }
/// ```
///
/// **Format.** Common or Combined Log Format, followed by the duration in seconds. Input from
/// clients is escaped, so it cannot forge lines. The address is [Request#clientAddress()].
///
/// ```
/// 203.0.113.7 - - [16/Nov/2026:12:00:00 +0000] "GET /a HTTP/1.1" 200 512 "-" "curl/8.5.0" 0.000214
/// ```
///
/// The status is 499 if the client left before a response began. A truncated response has
/// ` truncated` after the duration.
///
/// **Backpressure.** The loop never blocks: a virtual thread writes the lines from a queue of 8
/// 192. Further lines are dropped and counted: see [#dropped()].
///
/// **Files** are appended to. They are flushed after at most one second, and by [#close()]. To
/// rotate one, rename it and call [#reopen()].
///
/// **Order.** Add it before other middleware, so it logs their responses too.
///
/// **Failure.** A line that cannot be written is dropped and counted. The first one is reported as
/// a warning of the logger `dev.gyre.http`. An exception of a consumer affects its own line only.
///
/// **Threads.** One log serves any number of servers and loops. Call [#close()] on any thread
/// except a loop's: it blocks until all lines are written, up to five seconds. So does
/// [#reopen()].
public final class AccessLog implements Middleware, AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.gyre.http");
    private static final int MAX_QUEUED = 8_192;
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// Bounds the wait for a consumer that hangs.
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /// Marks the end of the queue. No line equals it.
    private static final String END = "\n";

    /// Marks the place in the queue at which the file is reopened. No line equals it.
    private static final String REOPEN = "\n\n";

    private final boolean combined;
    private final InstantSource clock;
    private final @Nullable AccessLogFile file;

    /// Gets the lines if there is no file.
    private final Consumer<? super String> consumer;

    private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(MAX_QUEUED);
    private final LongAdder dropped = new LongAdder();
    private final Thread writer;

    // Shared: set by the configuring thread, read by loops.
    private volatile boolean withConnectionIds;

    // Writer thread only.
    private boolean warned;

    // Shared: set by the closing thread, read by loops.
    private volatile boolean closed;
    private final AtomicBoolean ending = new AtomicBoolean();

    // Shared: written by the thread that holds the lock, read by the writer after the marker.
    private final Object reopenLock = new Object();
    private CompletableFuture<@Nullable Void> reopened = new CompletableFuture<>();

    // Shared: completed by the writer when it ends.
    private final CompletableFuture<@Nullable Void> ended = new CompletableFuture<>();

    private AccessLog(
            boolean combined,
            InstantSource clock,
            @Nullable AccessLogFile file,
            Consumer<? super String> consumer) {
        this.combined = combined;
        this.clock = clock;
        this.file = file;
        this.consumer = Objects.requireNonNull(consumer, "lines");
        writer = Thread.ofVirtual().name("gyre-access-log").start(this::write);
    }

    /// Returns a log in the Common Log Format. All lines go to the consumer, on one virtual thread.
    public static AccessLog common(Consumer<? super String> lines) {
        return new AccessLog(false, InstantSource.system(), null, lines);
    }

    /// Returns a log in the Common Log Format that appends to a file.
    ///
    /// @throws UncheckedIOException if the file cannot be opened
    public static AccessLog common(Path file) {
        return new AccessLog(false, InstantSource.system(), new AccessLogFile(file), _ -> {});
    }

    /// Returns a log in the Combined Log Format. All lines go to the consumer, on one virtual
    /// thread.
    public static AccessLog combined(Consumer<? super String> lines) {
        return combined(lines, InstantSource.system());
    }

    static AccessLog combined(Consumer<? super String> lines, InstantSource clock) {
        return new AccessLog(true, clock, null, lines);
    }

    /// Returns a log in the Combined Log Format that appends to a file.
    ///
    /// @throws UncheckedIOException if the file cannot be opened
    public static AccessLog combined(Path file) {
        return new AccessLog(true, InstantSource.system(), new AccessLogFile(file), _ -> {});
    }

    /// Appends ` conn=` and [Request#connectionId()] to each line, to find its connection in traces
    /// and lists. Off by default: parsers of the format may require that a line ends as above.
    ///
    /// @return this log
    public AccessLog withConnectionIds() {
        withConnectionIds = true;
        return this;
    }

    // ------------------------------------------------------------------ requests

    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        if (!closed) {
            EventLoop loop = request.loop();
            long began = loop.nanoTime();
            AccessLogLine line = new AccessLogLine(request, combined, clock.instant());
            if (withConnectionIds) {
                line.connection(request.connectionId());
            }
            response.onComplete(
                    () ->
                            add(
                                    line.end(
                                            response.status(),
                                            response.bodyBytes(),
                                            loop.nanoTime() - began,
                                            response.isTruncated())));
        }
        return next.handle(request, response);
    }

    /// Logs a rejected request, with `-` for unknown parts: `"GET /a -" 400 71`.
    @Override
    public void onRejected(RejectedRequest request) {
        if (!closed) {
            AccessLogLine line = new AccessLogLine(request, combined, clock.instant());
            if (withConnectionIds) {
                line.connection(request.connectionId());
            }
            add(line.end(request.status(), request.bodyBytes(), 0, false));
        }
    }

    private void add(String line) {
        if (closed || !queue.offer(line)) {
            dropped.increment();
        }
    }

    /// Returns the number of dropped lines: the queue was full, writing failed, or the log was
    /// closed before the response was complete.
    public long dropped() {
        return dropped.sum();
    }

    // ------------------------------------------------------------------ writing

    private void write() {
        try {
            writeUntilEnd();
        } finally {
            ended.complete(null);
        }
    }

    private void writeUntilEnd() {
        boolean unflushed = false;
        long flushedAt = System.nanoTime();
        boolean ends = false;
        while (!ends) {
            try {
                long left = FLUSH_NANOS - (System.nanoTime() - flushedAt);
                String line =
                        unflushed
                                ? queue.poll(Math.max(0, left), TimeUnit.NANOSECONDS)
                                : queue.take();
                if (END.equals(line)) {
                    ends = true;
                } else if (REOPEN.equals(line)) {
                    unflushed = false;
                    flush();
                    reopenFile();
                } else if (line != null) {
                    if (!unflushed) {
                        flushedAt = System.nanoTime();
                    }
                    unflushed = true;
                    write(line);
                }
                if (ends || (unflushed && System.nanoTime() - flushedAt >= FLUSH_NANOS)) {
                    unflushed = false;
                    flush();
                }
            } catch (InterruptedException e) {
                ends = true;
                flush();
            }
        }
        try {
            if (file != null) {
                file.close();
            }
        } catch (IOException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot close the access log: its last lines may be lost",
                    e);
        }
    }

    @SuppressWarnings("CatchingUnchecked") // The thread must survive any failure.
    private void write(String line) {
        try {
            if (file == null) {
                consumer.accept(line);
            } else {
                countDropped(file.add(line), file.failure());
            }
        } catch (Throwable e) {
            countDropped(1, e);
        }
    }

    private void flush() {
        if (file != null) {
            countDropped(file.flush(), file.failure());
        }
    }

    /// Opens the path of the file again, so that a renamed or deleted file is replaced. Lines
    /// logged before this call go to the previous file. Does nothing if the log has no file or is
    /// closed.
    ///
    /// @throws IOException if the file cannot be opened, or lines that wait cannot be written
    ///     within five seconds; the previous file stays in use
    public void reopen() throws IOException {
        if (file != null && !closed) {
            requestReopen();
        }
    }

    /// Does nothing if the writer has ended: the log may be closed at any time.
    void requestReopen() throws IOException {
        synchronized (reopenLock) { // One marker at a time.
            reopened = new CompletableFuture<>();
            try {
                if (queue.offer(REOPEN, CLOSE_NANOS, TimeUnit.NANOSECONDS)) {
                    CompletableFuture.anyOf(reopened, ended).get(CLOSE_NANOS, TimeUnit.NANOSECONDS);
                    return;
                }
            } catch (TimeoutException e) {
                // As for a full queue.
            } catch (ExecutionException e) {
                Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
                throw new IOException(cause.getMessage(), cause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        throw new IOException("the access log cannot write the lines that wait: check the disk");
    }

    private void reopenFile() {
        try {
            if (file != null) {
                file.reopen();
            }
            reopened.complete(null);
        } catch (IOException | RuntimeException e) {
            reopened.completeExceptionally(e);
        }
    }

    private void countDropped(int lines, @Nullable Throwable cause) {
        if (lines > 0) {
            dropped.add(lines);
            if (!warned) {
                warned = true;
                LOG.log(
                        System.Logger.Level.WARNING,
                        "the access log drops lines, because writing failed: free disk space or"
                                + " check the file; AccessLog.dropped() counts them",
                        cause);
            }
        }
    }

    /// Writes the queued lines and closes the log. Lines that a consumer does not accept within
    /// five seconds are dropped. Further calls have no effect.
    @Override
    public void close() {
        close(CLOSE_NANOS);
    }

    void close(long timeoutNanos) {
        closed = true;
        long deadline = System.nanoTime() + timeoutNanos;
        try {
            if (ending.compareAndSet(false, true)) {
                boolean _ = queue.offer(END, timeoutNanos, TimeUnit.NANOSECONDS);
            }
            long left = Math.max(0, deadline - System.nanoTime());
            if (!writer.join(Duration.ofNanos(left))) {
                writer.interrupt();
                for (String line = queue.poll(); line != null; line = queue.poll()) {
                    dropped.add(END.equals(line) || REOPEN.equals(line) ? 0 : 1);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
