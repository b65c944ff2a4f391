package dev.gyre.http.internal.server;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.http.internal.message.ChunkDecoder;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// Receives the body of a request. It reads from the stream only while it has a subscriber that is
/// not paused.
///
/// A body that arrived before its blocking handler started, or is empty, is *whole*. The handler's
/// thread gets it without a hop to the loop.
///
/// Loop thread only. The handler holds a [ServerBody].
final class RequestBody {
    /// An unread rest of up to this size is read and dropped, to keep the connection.
    private static final int MAX_DROPPED_BYTES = 64 << 10;

    /// The longest body that is read before a blocking handler asks for it.
    private static final int MAX_PREFETCHED_BYTES = 16 << 10;

    private final Exchange exchange;
    private final ServerContext context;
    private final HttpConnection connection;
    private final int generation;
    private final @Nullable ChunkDecoder chunks;
    private final long length;
    private final BodySubscriber reader = new BodySubscriber();

    // Loop thread only.
    private long maxBody;
    private long received;
    private boolean ended;
    private boolean paused;
    private boolean dropping;
    private long dropped;

    /// Whether the request is complete: a subscriber gets nothing more.
    private boolean abandoned;

    private @Nullable Throwable failure;
    private @Nullable ByteAccumulator collected;
    private Runnable onRelease = () -> {};

    // Loop thread, then the thread of the blocking handler; `null` unless the body is whole.
    private byte @Nullable [] whole;
    private @Nullable Promise<byte[]> wholePromise;
    private int prefetched;

    // Loop thread only: what was delivered of a whole body.
    private boolean delivered;
    private boolean endDelivered;

    RequestBody(Exchange exchange, HttpConnection connection) {
        this.exchange = exchange;
        context = exchange.context;
        this.connection = connection;
        generation = exchange.generation();
        length = exchange.head.contentLength();
        maxBody = context.config.maxBody();
        chunks =
                exchange.head.isChunked()
                        ? new ChunkDecoder(
                                context.config.maxHeaderCount(), context.config.maxHeaderBytes())
                        : null;
    }

    /// Returns the body of a request that has none. Also on the thread of a blocking handler.
    static RequestBody empty(Exchange exchange, HttpConnection connection) {
        RequestBody body = new RequestBody(exchange, connection);
        body.whole = HeaderLines.EMPTY;
        body.wholePromise = body.context.noBytes;
        body.ended = true;
        return body;
    }

    /// Reads a short body that has arrived, for a blocking handler.
    ///
    /// @param input the unread input of the connection
    /// @param offset of the body in the input
    void prefetch(Buffer input, int offset) {
        if (chunks != null
                || length > Math.min(MAX_PREFETCHED_BYTES, maxBody)
                || input.readable() - offset < length
                || received > 0
                || reader.isBegun()
                || !context.heap.tryAcquire(length)) {
            return;
        }
        byte[] bytes = new byte[(int) length];
        input.asReadable().position(offset).get(bytes);
        whole = bytes;
        wholePromise = Promise.resolved(context.loop, bytes);
        prefetched = bytes.length;
        received = length;
        ended = true;
    }

    /// Returns how many bytes of the input were prefetched.
    int prefetched() {
        return prefetched;
    }

    // ------------------------------------------------------------------ receiving

    /// Limits the length, before any of it is read.
    void limit(long bytes) {
        maxBody = bytes;
    }

    /// Returns whether the announced length exceeds the limit.
    boolean isTooLong() {
        return length > maxBody;
    }

    /// Returns whether input is to be passed to [#take].
    boolean isWanted() {
        return !ended && failure == null && (dropping || (reader.isSubscribed() && !paused));
    }

    /// Returns whether the handler waits for more.
    boolean isAwaited() {
        return isWanted() && !dropping;
    }

    boolean isEnded() {
        return ended;
    }

    /// Returns whether it has a subscriber.
    boolean isBegun() {
        return reader.isSubscribed();
    }

    long received() {
        return received;
    }

    /// Consumes the input that belongs to the body, while it is wanted.
    void take(Buffer data) {
        while (isWanted()) {
            int next = next(data);
            if (next == ChunkDecoder.MORE) {
                return;
            }
            if (next == ChunkDecoder.END) {
                end();
                return;
            }
            if (next == ChunkDecoder.REJECTED) {
                assert chunks != null;
                connection.failBody(
                        new HttpException(chunks.error().status(), chunks.error().reason()));
                return;
            }
            received += next;
            if (received > maxBody) {
                connection.failBody(tooLong(maxBody));
                return;
            }
            deliver(data, next);
            if (chunks == null && received == length && failure == null) {
                // Also if the last byte paused it: no further input would report the end.
                end();
                return;
            }
        }
    }

    private int next(Buffer data) {
        if (chunks != null) {
            return chunks.next(data);
        }
        return (int) Math.min(length - received, data.readable());
    }

    private void deliver(Buffer data, int bytes) {
        int before = data.readable();
        if (dropping) {
            dropped += bytes;
            data.skip(bytes);
            if (dropped > MAX_DROPPED_BYTES) {
                connection.giveUpBody();
            }
        } else if (bytes == before) {
            handOver(data);
            data.skip(data.readable());
        } else {
            Buffer part = data.slice(bytes);
            try {
                handOver(part);
            } finally {
                part.release();
            }
        }
        if (chunks != null) {
            chunks.taken(bytes);
        }
    }

    private void handOver(Buffer data) {
        Throwable thrown = reader.deliver(data);
        if (thrown != null && failure == null) {
            failure = thrown;
            exchange.recount();
            connection.giveUpBody(); // First, so that the response announces it.
            exchange.completion.fail(thrown);
        }
    }

    private void end() {
        ended = true;
        exchange.recount();
        if (!dropping) {
            notifyEnd();
        }
        connection.nextIfResponded();
    }

    private void notifyEnd() {
        Runnable callback = reader.onEnd();
        if (callback == null) {
            return;
        }
        if (exchange.isCurrent(generation)) {
            exchange.completion.runCallback(callback);
        } else {
            UserCallbacks.guarded(callback, exchange);
        }
    }

    /// Called when the rest of the body will not arrive.
    void fail(Throwable reason) {
        if (ended || failure != null) {
            return;
        }
        failure = reason;
        exchange.recount();
        reader.notifyFailure(reason, exchange);
    }

    void failAtEnd() {
        fail(new HttpException(400, "the connection ended before the body did"));
    }

    /// Returns whether the handler handles a failure of the body.
    boolean isFailureHandled() {
        return reader.handlesFailure();
    }

    /// Called when the handler has responded without it. The rest is read and dropped.
    void drop() {
        dropping = true;
        abandon();
    }

    /// Called when the response is complete. A subscriber gets a failure, and nothing more.
    void abandon() {
        if (ended || abandoned) {
            return;
        }
        abandoned = true;
        boolean reads = failure == null && reader.isSubscribed();
        exchange.recount();
        if (reads) {
            reader.notifyFailure(respondedBeforeBody(), exchange);
        }
        reader.unsubscribe();
    }

    /// Not logged: clients must not fill the log by sending slowly.
    private static HttpException respondedBeforeBody() {
        return new HttpException(
                400,
                "the response was sent before the body was read: read all that is needed first, and"
                        + " respond then");
    }

    /// Returns whether the rest is short, so that dropping it is cheaper than a new connection.
    boolean isWorthDropping() {
        return chunks != null || length - received <= MAX_DROPPED_BYTES;
    }

    /// Releases the heap that the body holds, when the request is complete.
    void release() {
        onRelease.run();
        ByteAccumulator known = collected;
        if (known != null) {
            collected = null;
            known.release();
        }
        context.heap.release(prefetched);
        prefetched = 0;
    }

    static HttpException tooLong(long limit) {
        return new HttpException(413, "the body has more than " + limit + " bytes");
    }

    // ------------------------------------------------------------------ the subscriber

    long length() {
        return length;
    }

    /// Sets the callback that releases resources created from the body.
    void onRelease(Runnable callback) {
        onRelease = callback;
    }

    /// Returns the limit of the body, at most that of its route.
    ///
    /// @throws HttpException 413 if it is longer, before 100 (Continue) is sent
    long requireWithin(long limit) {
        long max = Math.min(limit, maxBody);
        if (length > max) {
            throw tooLong(max);
        }
        return max;
    }

    /// Returns the bytes of a whole body, and subscribes for them; `null` if it is not whole. Also
    /// on the thread of a blocking handler.
    byte @Nullable [] claimWhole() {
        if (whole != null) {
            reader.claim(() -> {}, _ -> {});
        }
        return whole;
    }

    /// Returns a promise of a whole body.
    Promise<byte[]> wholePromise() {
        return Objects.requireNonNull(wholePromise);
    }

    Promise<byte[]> collect(long max) {
        Deferred<byte[]> all = context.loop.deferred();
        ByteAccumulator begun = new ByteAccumulator(context.heap, length, max);
        claim(
                data -> collect(data, begun, max),
                () -> all.resolve(begun.toByteArray()),
                all::reject);
        collected = begun;
        return all.promise();
    }

    private void collect(Buffer data, ByteAccumulator begun, long max) {
        if (!begun.fits(data.readable())) {
            connection.failBody(tooLong(max));
        } else if (!begun.append(data, data.readable())) {
            failWithoutMemory();
        }
    }

    void failWithoutMemory() {
        connection.failBody(
                new HttpException(503, "no memory for the body at present: retry later"));
    }

    /// Subscribes for all of the body.
    void claim(Consumer<? super Buffer> data, Runnable end, Consumer<? super Throwable> failed) {
        long _ = requireWithin(maxBody);
        reader.claim(end, failed);
        subscribe(data, failed);
    }

    /// Subscribes by a callback. [#onEnd] and [#onFailure] set the others.
    void onData(Consumer<? super Buffer> callback) {
        long _ = requireWithin(maxBody);
        reader.begin();
        subscribe(callback, _ -> {});
    }

    private void subscribe(Consumer<? super Buffer> data, Consumer<? super Throwable> failed) {
        Throwable known = failureSoFar();
        if (known != null) {
            UserCallbacks.run(failed, known, exchange);
            return;
        }
        reader.data(data);
        if (whole != null) {
            context.loop.microtask(this::deliverWhole);
        } else {
            exchange.recount();
            connection.bodyWanted(exchange);
        }
    }

    void onEnd(Runnable callback) {
        reader.end(callback);
        if (whole != null) {
            context.loop.microtask(this::deliverWhole);
        } else if (ended && !abandoned) {
            notifyEnd();
        }
    }

    void onFailure(Consumer<? super Throwable> callback) {
        reader.failure(callback);
        Throwable known = failureSoFar();
        if (known != null) {
            reader.notifyFailure(known, exchange);
        }
    }

    /// Returns why the body will not be complete; `null` if it may be.
    private @Nullable Throwable failureSoFar() {
        return failure == null && abandoned ? respondedBeforeBody() : failure;
    }

    /// Calls the callbacks for a whole body, each once.
    private void deliverWhole() {
        byte[] bytes = Objects.requireNonNull(whole);
        if (bytes.length > 0 && !delivered) {
            if (paused || !reader.isSubscribed()) {
                return;
            }
            delivered = true;
            handOver(Buffer.allocate(bytes.length).put(bytes));
        }
        if (failure == null && !endDelivered && reader.onEnd() != null) {
            endDelivered = true;
            notifyEnd();
        }
    }

    /// Pauses reading, or resumes it.
    void pause(boolean pauses) {
        paused = pauses;
        exchange.recount();
        if (!pauses && whole != null) {
            context.loop.microtask(this::deliverWhole);
        } else if (isWanted()) {
            connection.bodyWanted(exchange);
        }
    }

    Headers trailers() {
        return chunks == null || !ended ? Headers.of() : chunks.trailers();
    }
}
