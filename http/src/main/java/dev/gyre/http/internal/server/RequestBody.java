package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.ChunkDecoder;
import dev.gyre.http.internal.message.NoHeaders;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.io.InputStream;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The content of a request: taken from what the stream brings as far as somebody wants it.
///
/// Loop thread; a blocking handler's calls are carried out there.
final class RequestBody implements Body {
    /// So much of what nobody read is read and dropped, to keep the connection.
    private static final int MOST_DROPPED_BYTES = 64 << 10;

    /// No array is longer.
    private static final int MOST_COLLECTED_BYTES = Integer.MAX_VALUE - 8;

    private final Exchange exchange;
    private final Workbench bench;
    private final HttpConnection connection;
    private final @Nullable ChunkDecoder chunks;
    private final long length;
    private final ContentReader reader = new ContentReader();

    // Loop thread only.
    private long maxBody;
    private long received;
    private boolean ended;
    private boolean paused;
    private boolean dropping;
    private long dropped;

    /// Whether its request is over: who reads it is told so, and who would begin to.
    private boolean abandoned;

    private @Nullable Throwable failure;
    private @Nullable Collected collected;

    RequestBody(Exchange exchange, HttpConnection connection) {
        this.exchange = exchange;
        bench = exchange.bench;
        this.connection = connection;
        length = exchange.head.contentLength();
        maxBody = bench.config.maxBody();
        chunks =
                exchange.head.isChunked()
                        ? new ChunkDecoder(bench.config.maxFields(), bench.config.maxHead())
                        : null;
    }

    private <T> T onLoop(String method, Supplier<T> work) {
        return exchange.isElsewhere(method) ? bench.onLoop.call(work) : work.get();
    }

    // ------------------------------------------------------------------ what arrives

    /// Says how much there may be, before any of it is asked for.
    ///
    /// @throws HttpException 413 if more is announced
    void limit(long bytes) {
        maxBody = bytes;
        if (isTooLong()) {
            throw tooLong(bytes);
        }
    }

    /// Whether more is announced than there may be.
    boolean isTooLong() {
        return length > maxBody;
    }

    /// Whether what arrives is to be handed to [#take].
    boolean isWanted() {
        return !ended && failure == null && (dropping || (reader.isThere() && !paused));
    }

    /// Whether a handler asks for more of it.
    boolean isAwaited() {
        return isWanted() && !dropping;
    }

    boolean isEnded() {
        return ended;
    }

    /// Whether anybody has asked for it.
    boolean isBegun() {
        return reader.isThere();
    }

    long received() {
        return received;
    }

    /// Takes what belongs to it, as long as it is wanted.
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
            if (next == ChunkDecoder.REFUSED) {
                assert chunks != null;
                connection.failBody(
                        new HttpException(chunks.refusal().status(), chunks.refusal().reason()));
                return;
            }
            received += next;
            if (received > maxBody) {
                connection.failBody(tooLong(maxBody));
                return;
            }
            hand(data, next);
            if (chunks == null && received == length && failure == null) {
                // Also if it was paused with the last byte: nothing would come any more to tell of
                // the end.
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

    private void hand(Buffer data, int bytes) {
        int before = data.readable();
        if (dropping) {
            dropped += bytes;
            data.skip(bytes);
            if (dropped > MOST_DROPPED_BYTES) {
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
        Throwable thrown = reader.hand(data);
        if (thrown != null && failure == null) {
            failure = thrown;
            exchange.recount();
            connection.giveUpBody(); // First, so that the answer says so.
            exchange.outcome.fail(thrown);
        }
    }

    private void end() {
        ended = true;
        exchange.recount();
        if (!dropping) {
            reader.tellEnd(exchange.outcome);
        }
        connection.nextIfAnswered();
    }

    /// It will not be whole.
    void fail(Throwable reason) {
        if (ended || failure != null) {
            return;
        }
        failure = reason;
        exchange.recount();
        reader.tellFailure(reason);
    }

    /// Whether its handler does something about it if it is not whole.
    boolean isFailureHeard() {
        return reader.hearsFailure();
    }

    /// Its handler has answered without it: what is still to come is read and dropped.
    void drop() {
        dropping = true;
        abandon();
    }

    /// Its request is answered. Who still reads it will hear nothing more, and is told so.
    void abandon() {
        if (ended || abandoned) {
            return;
        }
        abandoned = true;
        boolean reads = failure == null && reader.isThere();
        exchange.recount();
        if (reads) {
            reader.tellFailure(answeredBefore());
        }
        reader.leave();
    }

    /// Of the kind that is no line of the log: how fast a peer sends must not fill it.
    private static HttpException answeredBefore() {
        return new HttpException(
                400,
                "the request was answered before its content was read: read all that is wanted of"
                        + " it first, and answer then");
    }

    /// Whether so little of it is to come that dropping it is cheaper than another connection.
    boolean isWorthDropping() {
        return chunks != null || length - received <= MOST_DROPPED_BYTES;
    }

    // ------------------------------------------------------------------ for handlers

    @Override
    public long length() {
        boolean _ = exchange.isElsewhere("Body.length");
        return length;
    }

    @Override
    public Promise<byte[]> bytes() {
        return bytes(MOST_COLLECTED_BYTES);
    }

    @Override
    public Promise<byte[]> bytes(int limit) {
        if (limit < 0) {
            throw new IllegalArgumentException("a limit is no less than 0, not " + limit);
        }
        return onLoop(
                "Body.bytes",
                () -> {
                    long most = Math.min(limit, maxBody);
                    if (length > most) {
                        throw tooLong(most); // Before the peer is told to go on.
                    }
                    Deferred<byte[]> all = bench.loop.deferred();
                    Collected begun = new Collected(bench.heap, length, most);
                    claim(
                            data -> collect(data, begun),
                            () -> all.resolve(begun.bytes()),
                            all::reject);
                    collected = begun;
                    return all.promise();
                });
    }

    private void collect(Buffer data, Collected begun) {
        HttpException refusal = begun.add(data);
        if (refusal != null) {
            connection.failBody(refusal);
        }
    }

    @Override
    public Promise<String> text() {
        return text(MOST_COLLECTED_BYTES);
    }

    @Override
    public Promise<String> text(int limit) {
        return onLoop("Body.text", () -> bytes(limit).then(bytes -> new String(bytes, UTF_8)));
    }

    /// The request is over: what was collected for it does not count any more.
    void letGo() {
        Collected known = collected;
        if (known != null) {
            collected = null;
            known.giveBack();
        }
    }

    /// What is answered to content that is longer than it may be.
    static HttpException tooLong(long limit) {
        return new HttpException(413, "the content has more than " + limit + " bytes");
    }

    /// One that collects it, or makes a stream of it, has all of it.
    private void claim(
            Consumer<? super Buffer> data, Runnable end, Consumer<? super Throwable> failed) {
        requireShortEnough();
        reader.claim(end, failed);
        Throwable known = failureSoFar();
        if (known != null) {
            UserCallbacks.tell(failed, known);
        } else {
            want(data);
        }
    }

    /// Why it will not be whole, if that is known.
    private @Nullable Throwable failureSoFar() {
        return failure == null && abandoned ? answeredBefore() : failure;
    }

    private void requireShortEnough() {
        if (isTooLong()) {
            throw tooLong(maxBody); // Before the peer is told to go on.
        }
    }

    private void want(Consumer<? super Buffer> callback) {
        reader.data(callback);
        exchange.recount();
        connection.bodyWanted(exchange);
    }

    @Override
    public Body onData(Consumer<? super Buffer> callback) {
        return onLoop(
                "Body.onData",
                () -> {
                    requireShortEnough();
                    reader.begin();
                    if (failureSoFar() == null) {
                        want(callback);
                    }
                    return this;
                });
    }

    @Override
    public Body onEnd(Runnable callback) {
        return onLoop(
                "Body.onEnd",
                () -> {
                    reader.end(callback);
                    if (ended && !abandoned) {
                        reader.tellEnd(exchange.outcome);
                    }
                    return this;
                });
    }

    @Override
    public Body onFailure(Consumer<? super Throwable> callback) {
        return onLoop(
                "Body.onFailure",
                () -> {
                    reader.failure(callback);
                    Throwable known = failureSoFar();
                    if (known != null) {
                        reader.tellFailure(known);
                    }
                    return this;
                });
    }

    @Override
    public void pause() {
        onLoop(
                "Body.pause",
                () -> {
                    paused = true;
                    exchange.recount();
                    return true;
                });
    }

    @Override
    public void resume() {
        onLoop(
                "Body.resume",
                () -> {
                    paused = false;
                    exchange.recount();
                    if (isWanted()) {
                        connection.bodyWanted(exchange);
                    }
                    return true;
                });
    }

    @Override
    public InputStream stream() {
        if (!exchange.isElsewhere("Body.stream")) {
            throw new IllegalStateException(
                    "reading waits, and the loop must not: use onData, or a blocking handler");
        }
        BodyInput input = new BodyInput(bench.loop, this);
        return bench.onLoop.call(
                () -> {
                    claim(
                            data -> input.add(data.getBytes()),
                            () -> input.finish(null),
                            input::finish);
                    return input;
                });
    }

    @Override
    public Headers trailers() {
        boolean _ = exchange.isElsewhere("Body.trailers");
        return chunks == null || !ended ? NoHeaders.INSTANCE : chunks.trailers();
    }
}
