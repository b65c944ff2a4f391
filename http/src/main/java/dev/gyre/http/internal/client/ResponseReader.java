package dev.gyre.http.internal.client;

import dev.gyre.LoopOverloadedException;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.Headers;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.ChunkDecoder;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.message.ResponseHead;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;

/// Reads one response after the other from a connection.
///
/// ```
///     1xx ◀─▶ head ──▶ body of known length ──▶ complete
///              ├─────▶ chunks ────────────────▶ complete
///              ├─────▶ body until the end of the connection
///              └─────▶ complete
/// ```
///
/// Loop thread only.
final class ResponseReader {
    /// One or two are common.
    private static final int MAX_INTERIM_RESPONSES = 32;

    /// The maximum of a redirect's body that is read to keep the connection.
    private static final int MAX_DISCARDED_BYTES = 64 << 10;

    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int MAX_ARRAY_LENGTH = Integer.MAX_VALUE - 8;
    private static final byte[] EMPTY = {};

    private enum State {
        HEAD,
        LENGTH,
        CHUNKS,
        UNTIL_CLOSE,
        COMPLETE
    }

    private final ResponseHead head;
    private final HttpClientConfig config;
    private final HeapBudget heap;
    private final long maxBody;
    private @Nullable ChunkDecoder chunks;

    private State state = State.COMPLETE;
    private @Nullable ClientExchange exchange;
    private int interimResponses;
    private int status;
    private String reason = "";
    private Headers headers = Headers.of();
    private boolean keepsAlive;

    /// The missing bytes of a body of known length.
    private long left;

    /// Whether the response is a redirect that is followed, so that its body is discarded.
    private boolean discards;

    private int discardedBytes;

    /// The collected body; null until its first byte.
    private @Nullable ByteAccumulator body;

    /// @param head may be shared: it is released after each use
    ResponseReader(ResponseHead head, HttpClientConfig config, HeapBudget heap) {
        this.head = head;
        this.config = config;
        this.heap = heap;
        maxBody = Math.min(config.maxBody(), MAX_ARRAY_LENGTH);
    }

    /// Starts with the response of an exchange.
    void start(ClientExchange next) {
        exchange = next;
        state = State.HEAD;
        interimResponses = 0;
        discards = false;
        discardedBytes = 0;
        releaseBody();
    }

    void releaseBody() {
        if (body != null) {
            body.release();
            body = null;
        }
    }

    /// Reads the available part of the response, while it is not paused.
    ///
    /// @return whether it is complete; unread bytes then belong to no response
    /// @throws ProtocolException that names the problem
    boolean read(Buffer data) throws ProtocolException {
        while (state == State.HEAD) {
            if (!readHead(data)) {
                return false;
            }
        }
        if (exchange().isPaused() && state != State.COMPLETE) {
            return false; // onHead has paused it.
        }
        switch (state) {
            case LENGTH -> readLength(data);
            case CHUNKS -> readChunks(data);
            case UNTIL_CLOSE -> deliver(data, data.readable());
            case HEAD, COMPLETE -> {}
        }
        return state == State.COMPLETE;
    }

    /// The connection has ended.
    ///
    /// @return whether this completes the response
    boolean readEnd() {
        if (state == State.UNTIL_CLOSE) {
            state = State.COMPLETE;
        }
        return state == State.COMPLETE;
    }

    private boolean readHead(Buffer data) throws ProtocolException {
        ClientExchange current = exchange();
        head.forMethod(current.head.method());
        int bytes = head.parse(data);
        if (bytes < 0) {
            throw rejected(head.error());
        }
        if (bytes == 0) {
            return false;
        }
        int code = head.status();
        if (code >= 200) {
            takeHead();
        }
        head.release();
        data.skip(bytes);
        if (code >= 200) {
            announceHead(current);
        } else if (code == SWITCHING_PROTOCOLS) {
            throw new ProtocolException(
                    "the server switched protocols (101) without an upgrade request");
        } else if (++interimResponses > MAX_INTERIM_RESPONSES) {
            throw new ProtocolException(
                    "the server sent more than "
                            + MAX_INTERIM_RESPONSES
                            + " interim responses (1xx)");
        }
        return true;
    }

    private void takeHead() {
        status = head.status();
        reason = head.reasonPhrase();
        headers = head.copy();
        keepsAlive = head.keepsAlive();
        left = head.contentLength();
        if (head.isChunked()) {
            state = State.CHUNKS;
            decoder().reset();
        } else if (head.isUntilClose()) {
            state = State.UNTIL_CLOSE;
        } else {
            state = left == 0 ? State.COMPLETE : State.LENGTH;
        }
    }

    /// Delivers the head before the check of the body's length: `onHead` may set `onData`.
    private void announceHead(ClientExchange current) throws ProtocolException {
        discards = current.redirects(status, headers);
        if (discards) {
            if (state == State.UNTIL_CLOSE || left > MAX_DISCARDED_BYTES) {
                stopDiscarding();
            }
            return;
        }
        current.deliverHead(response(EMPTY, Headers.of()));
        if (state == State.LENGTH) {
            requireRoom(left);
        }
    }

    /// Completes a redirect without the rest of its body, at the price of the connection.
    private void stopDiscarding() {
        state = State.COMPLETE;
        keepsAlive = false;
    }

    private ChunkDecoder decoder() {
        ChunkDecoder known = chunks;
        if (known == null) {
            known = new ChunkDecoder(config.maxHeaderCount(), Math.max(2, config.maxHeaderBytes()));
            chunks = known;
        }
        return known;
    }

    private void readLength(Buffer data) throws ProtocolException {
        int bytes = (int) Math.min(left, data.readable());
        left -= bytes;
        if (left == 0) {
            state = State.COMPLETE;
        }
        deliver(data, bytes);
    }

    private void readChunks(Buffer data) throws ProtocolException {
        ChunkDecoder decoder = decoder();
        int bytes = decoder.next(data);
        while (bytes > 0) {
            deliver(data, bytes);
            decoder.taken(bytes);
            if (exchange().isPaused() || state == State.COMPLETE) {
                return;
            }
            bytes = decoder.next(data);
        }
        if (bytes == ChunkDecoder.REJECTED) {
            throw rejected(decoder.error());
        }
        if (bytes == ChunkDecoder.END) {
            state = State.COMPLETE;
        }
    }

    private void deliver(Buffer data, int bytes) throws ProtocolException {
        ClientExchange current = exchange();
        if (discards) {
            data.skip(bytes);
            discardedBytes += bytes;
            if (discardedBytes > MAX_DISCARDED_BYTES) {
                stopDiscarding();
            }
        } else if (current.collectsBody()) {
            collect(data, bytes);
        } else if (bytes > 0) {
            Buffer part = data.slice(bytes);
            try {
                current.deliver(part);
            } finally {
                part.release();
            }
        }
    }

    private void collect(Buffer data, int bytes) throws ProtocolException {
        ByteAccumulator collected = body;
        if (collected == null) {
            boolean unknown = state == State.CHUNKS || state == State.UNTIL_CLOSE;
            collected = new ByteAccumulator(heap, unknown ? -1 : bytes + left, maxBody);
            body = collected;
        }
        if (!collected.fits(bytes)) {
            throw rejected(ParseError.CONTENT_TOO_LARGE);
        }
        if (!collected.append(data, bytes)) {
            throw new LoopOverloadedException(
                    "the loop's heap budget of "
                            + heap.limitBytes()
                            + " bytes is used up: retry later, receive the body with"
                            + " ClientRequest.onData, or raise the maximum heap size");
        }
    }

    private void requireRoom(long bytes) throws ProtocolException {
        if (exchange().collectsBody() && bytes > maxBody) {
            throw rejected(ParseError.CONTENT_TOO_LARGE);
        }
    }

    private ProtocolException rejected(ParseError why) {
        return new ProtocolException(why + ": " + why.reason() + remedy(why));
    }

    private String remedy(ParseError why) {
        return switch (why) {
            case CONTENT_TOO_LARGE ->
                    ", "
                            + maxBody
                            + " bytes: raise HttpClientConfig.withMaxBody, or stream the body with"
                            + " ClientRequest.onData";
            case HEAD_TOO_LARGE, TOO_MANY_HEADERS, TRAILER_TOO_LARGE ->
                    ", "
                            + config.maxHeaderBytes()
                            + " bytes and "
                            + config.maxHeaderCount()
                            + " headers: raise HttpClientConfig.withMaxHeaderBytes or"
                            + " withMaxHeaderCount";
            default -> "";
        };
    }

    private ClientExchange exchange() {
        ClientExchange current = exchange;
        if (current == null) {
            throw new IllegalStateException("no exchange is in progress");
        }
        return current;
    }

    /// Whether the connection can be reused.
    boolean keepsAlive() {
        return keepsAlive;
    }

    private ClientResponse response(byte[] all, Headers trailers) {
        return new ClientResponse(status, reason, headers, all, trailers, config.jsonMapper());
    }

    /// Returns the complete response, and drops it here.
    ClientResponse take() {
        assert state == State.COMPLETE : "incomplete: " + state;
        ChunkDecoder decoder = chunks;
        byte[] all = body == null ? EMPTY : body.toByteArray();
        ClientResponse response =
                response(all, decoder == null ? Headers.of() : decoder.trailers());
        exchange = null;
        headers = Headers.of();
        releaseBody();
        if (decoder != null) {
            decoder.reset();
        }
        return response;
    }
}
