package dev.gyre.http.internal.client;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.internal.time.Deadline;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.TimeoutKind;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/// A connection, which carries one exchange after the other. It also reads while idle, to detect
/// its end.
///
/// ```
///     idle ── carry ──▶ checks for input ── none ──▶ writes the request ── response ──▶ idle
///                              └── any ──▶ dropped: another connection carries the exchange
/// ```
///
/// **Unsolicited input is never taken for a response.** Input that was sent between two exchanges
/// may still be in the kernel. So a request on a reused connection is written only after all
/// earlier input was read. If there was any, nothing of the request has been sent, and another
/// connection can carry any exchange.
///
/// Loop thread only.
final class ClientConnection implements Protocol {
    /// The body is written in parts, so that pending output stays below the stream's limit.
    private static final int PART_BYTES = 64 << 10;

    private final ConnectionPool pool;
    private final Stream stream;
    private final ResponseReader reader;

    private @Nullable ClientExchange exchange;
    private @Nullable ByteBuffer unsent;
    private boolean reused;
    private boolean requestStarted;
    private boolean responseStarted;

    /// Null unless the exchange has a stall timeout.
    private @Nullable StallDetector stallDetector;

    ClientConnection(ConnectionPool pool, Stream stream, ResponseReader reader) {
        this.pool = pool;
        this.stream = stream;
        this.reader = reader;
    }

    boolean isOpen() {
        return stream.isOpen();
    }

    @Override
    public String describe(Stream stream) {
        return exchange == null
                ? "HTTP client, idle"
                : responseStarted
                        ? "HTTP client, receiving a response"
                        : "HTTP client, waiting for a response";
    }

    /// Sends a request and waits for its response.
    void carry(ClientExchange next) {
        assert exchange == null : "one exchange at a time";
        exchange = next;
        responseStarted = false;
        requestStarted = false;
        next.setConnection(this);
        stream.idleTimeout(pool.config().streams().idleTimeout());
        if (reused) {
            Promise<?> _ =
                    stream.inputDelivered()
                            .then(
                                    _ -> {
                                        startUnlessLost(next);
                                        return true;
                                    },
                                    _ -> false); // onClose handles it.
        } else {
            start(next);
        }
    }

    @SuppressWarnings("ReferenceEquality") // identity of exchanges
    private void startUnlessLost(ClientExchange next) {
        if (exchange == next && stream.isOpen()) {
            start(next);
        }
    }

    private void start(ClientExchange next) {
        requestStarted = true;
        reader.start(next);
        stream.write(next.headBytes());
        if (!next.stallTimeout().isZero()) {
            stallDetector = new StallDetector(next);
        }
        updateReading();
        unsent = next.body().length == 0 ? null : ByteBuffer.wrap(next.body());
        sendBody();
        RequestBodyWriter writer = next.bodyWriter();
        if (writer != null) {
            callUser(next, () -> writer.start(stream));
        }
    }

    /// Rejects the exchange if a callback of the user throws.
    private void callUser(ClientExchange carried, Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            abandon();
            carried.reject(e);
        }
    }

    private void sendBody() {
        ByteBuffer rest = unsent;
        boolean room = true;
        while (rest != null && room && stream.isOpen()) {
            int end = rest.limit();
            rest.limit(Math.min(end, rest.position() + PART_BYTES));
            room = stream.write(rest);
            rest.limit(end);
            if (!rest.hasRemaining()) {
                rest = null;
                unsent = null;
            }
        }
    }

    @Override
    public void onWritable(Stream stream) {
        sendBody();
        ClientExchange carried = exchange;
        RequestBodyWriter writer = carried == null ? null : carried.bodyWriter();
        if (carried != null && writer != null) {
            callUser(carried, writer::notifyWritable);
        }
    }

    void onBodyWritten() {
        if (stallDetector != null) {
            stallDetector.onWritten();
        }
    }

    /// Drops the connection together with the exchange.
    void abandon() {
        detach();
        pool.remove(this);
        stream.abort();
    }

    private void detach() {
        exchange = null;
        unsent = null;
        reader.releaseBody();
        if (stallDetector != null) {
            stallDetector.cancel();
            stallDetector = null;
        }
    }

    /// Pauses or resumes reading as the exchange requires. Before the request, it always reads.
    void updateReading() {
        ClientExchange carried = exchange;
        if (carried == null || !requestStarted) {
            return;
        }
        if (carried.isPaused()) {
            stream.pause();
        } else if (stream.isPaused()) {
            stream.resume();
        }
        if (stallDetector != null) {
            stallDetector.onProgress();
        }
    }

    /// Ignores the idle timeout of a stream that the exchange has paused.
    @Override
    public boolean onTimeout(Stream stream, TimeoutKind timeout) {
        ClientExchange carried = exchange;
        return timeout == TimeoutKind.IDLE && carried != null && carried.isPaused();
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        ClientExchange carried = exchange;
        if (carried == null || !requestStarted) {
            lost(CloseReason.ABORTED); // Unsolicited.
            stream.abort();
            return;
        }
        responseStarted = true;
        if (stallDetector != null) {
            stallDetector.onProgress();
        }
        try {
            // A callback may have closed the client.
            if (reader.read(data) && exchange != null) {
                complete(carried, data.readable() > 0);
            }
        } catch (ProtocolException | RuntimeException | Error e) {
            abandon();
            carried.reject(e);
        }
    }

    /// @param surplus whether more than the response was received, so that the next one cannot be
    ///     found
    private void complete(ClientExchange carried, boolean surplus) {
        ClientResponse response = reader.take();
        RequestBodyWriter writer = carried.bodyWriter();
        boolean clean = !surplus && unsent == null && (writer == null || writer.isEnded());
        boolean reusable = clean && reader.keepsAlive() && !carried.head.isLast();
        detach();
        carried.setConnection(null); // The connection may carry another exchange now.
        reused = true;
        if (stream.isPaused()) {
            stream.resume(); // Paused at the last byte.
        }
        if (reusable && stream.isOpen()) {
            pool.release(this);
        } else {
            pool.remove(this);
            if (clean) {
                stream.close();
            } else {
                stream.abort();
            }
        }
        carried.complete(response);
    }

    void becomeIdle() {
        reused = true;
        stream.idleTimeout(pool.config().idleTimeout());
    }

    @Override
    public void onEnd(Stream stream) {
        ClientExchange carried = exchange;
        if (carried == null) {
            pool.remove(this);
            stream.close();
        } else if (requestStarted && reader.readEnd()) {
            complete(carried, false);
        } else {
            lost(CloseReason.ENDED);
            stream.abort();
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        lost(reason);
    }

    private void lost(CloseReason reason) {
        ClientExchange carried = exchange;
        detach();
        if (carried != null
                && (requestStarted ? isStale(reason) && carried.tryRetry() : carried.isPending())) {
            pool.retry(this, carried);
            return;
        }
        pool.remove(this);
        if (carried != null) {
            carried.reject(
                    new StreamClosedException(describe(carried, reason), reason, stream.failure()));
        }
    }

    private String describe(ClientExchange carried, CloseReason reason) {
        if (reason == CloseReason.OUTPUT_LIMIT) {
            return reason
                    + ": more than "
                    + carried.outputLimit()
                    + " bytes of the request to "
                    + pool.origin()
                    + " were pending: stop when write() returns false, or raise"
                    + " StreamConfig.withOutputLimit";
        }
        String when = responseStarted ? " during its response: " : " before its response: ";
        return pool.origin() + " closed the connection" + when + reason;
    }

    /// Whether the server had probably closed the reused connection before the request was sent.
    private boolean isStale(CloseReason reason) {
        return reused
                && !responseStarted
                && switch (reason) {
                    case ENDED, RESET, FAILED, TLS_TRUNCATED, TLS_FAILED -> true;
                    default -> false;
                };
    }

    /// Detects that no byte of an exchange is transferred. Progress only stores its time; the timer
    /// compares when it fires. The kernel may accept output in small parts and never all of it, so
    /// the timer also checks several times within the timeout.
    private final class StallDetector {
        private static final int CHECKS = 8;

        private final ClientExchange watched;
        private final EventLoop loop = stream.loop();
        private final long timeoutNanos;
        private long progressAt;
        private long sentBefore;
        private boolean flushPending;
        private final Deadline nextCheck = new Deadline(loop, this::check);

        StallDetector(ClientExchange watched) {
            this.watched = watched;
            timeoutNanos = Deadline.nanos(watched.stallTimeout());
            onWritten();
            schedule();
        }

        void onProgress() {
            progressAt = loop.nowNanos();
        }

        void onWritten() {
            onProgress();
            if (!flushPending) {
                flushPending = true;
                Promise<?> _ = stream.flushed().then(_ -> flushed(), _ -> false);
            }
        }

        private boolean flushed() {
            flushPending = false;
            checkSent();
            return true;
        }

        private void checkSent() {
            long sent = stream.sent();
            if (sent != sentBefore) {
                sentBefore = sent;
                onProgress();
            }
        }

        private void schedule() {
            long left = progressAt + timeoutNanos - loop.nowNanos();
            nextCheck.in(Math.min(left, Math.max(1, timeoutNanos / CHECKS)));
        }

        private void check() {
            if (watched.isPaused()) {
                onProgress();
            }
            checkSent();
            if (loop.nowNanos() - progressAt >= timeoutNanos) {
                watched.stalled(stream.pending());
            } else {
                schedule();
            }
        }

        void cancel() {
            nextCheck.cancel();
        }
    }
}
