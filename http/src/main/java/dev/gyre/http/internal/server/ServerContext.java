package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Supplier;

/// The state that all connections of a server share: the spare exchange for requests whose handlers
/// respond at once, and the buffer in which responses are assembled.
///
/// Loop thread only.
final class ServerContext {
    /// A warning about the program that clients can provoke at will.
    enum Warning {
        OUTPUT_LIMIT,
        LEFT_OPEN,
        MAX_BLOCKING
    }

    private static final int OUT_BYTES = 64 << 10;

    final EventLoop loop;
    final HttpConfig config;
    final LoopServer server;
    final LoopInvoker onLoop;
    final StatusAndDateCache firstLines;
    final HeapBudget heap;
    final OutputBudget outputBudget;
    final UnreadInputBudget unreadInput;

    /// The result of every method that sends.
    final Promise<?> done;

    /// The body of a request that has none.
    final Promise<byte[]> noBytes;

    // Loop thread only.
    private final Set<Warning> logged = EnumSet.noneOf(Warning.class);
    private final Buffer out = Buffer.allocate(OUT_BYTES);
    private @Nullable HttpConnection owner;
    private @Nullable Exchange spare;

    /// `null` unless requests are measured.
    @Nullable LoopRequestMetrics metrics;

    ServerContext(LoopServer server, EventLoop loop, HttpConfig config) {
        this.server = server;
        this.loop = loop;
        onLoop = new LoopInvoker(loop);
        this.config = config;
        firstLines = new StatusAndDateCache(loop, config);
        heap = HeapBudget.of(loop);
        outputBudget = new OutputBudget(loop, heap);
        unreadInput = UnreadInputBudget.of(loop);
        done = Promise.resolved(loop, "answered");
        noBytes = Promise.resolved(loop, HeaderLines.EMPTY);
    }

    /// Returns the exchange for the next request.
    Exchange spare() {
        Exchange known = spare;
        if (known == null) {
            known =
                    new Exchange(
                            this,
                            new RequestHead(
                                    config.maxUriLength(),
                                    config.maxHeaderBytes(),
                                    config.maxHeaderCount()));
            spare = known;
        }
        return known;
    }

    /// Returns the exchange of a connection whose handler has not returned; `null` if absent.
    @Nullable Exchange served(HttpConnection connection) {
        Exchange known = spare;
        return known != null && known.connection == connection ? known : null;
    }

    /// Parses the head of a request. Rejects an `https` target on a plaintext connection, as in RFC
    /// 9110, 7.4.
    ///
    /// @return as [RequestHead#parse]
    int parse(RequestHead head, Buffer data, Stream stream) {
        int length = head.parse(data);
        return length > 0 && head.isHttps() && stream.tls() == null
                ? head.reject(ParseError.MISDIRECTED)
                : length;
    }

    /// Gives the spare exchange to its request, for good: a handler that keeps it too long never
    /// reaches another request.
    void handOut(Exchange exchange) {
        assert spare == exchange : "not the spare exchange";
        spare = null;
    }

    /// Returns the buffer for the next bytes of a connection.
    ///
    /// @param room the min number of writable bytes, at most half of the buffer
    Buffer out(HttpConnection connection, int room) {
        assert room <= OUT_BYTES / 2 : "too large for the buffer: " + room;
        if (owner != connection || out.writable() < room) {
            flush();
            owner = connection;
        }
        return out;
    }

    /// Writes the buffer to the stream of its connection.
    void flush() {
        if (metrics != null) {
            metrics.endBatch(); // Before a client can see a response.
        }
        HttpConnection known = owner;
        owner = null;
        if (known != null && out.readable() > 0) {
            known.output.write(out);
        }
        out.clear();
    }

    /// Sends an error for input that is not a request, and notifies middleware.
    ///
    /// @param head the head as far as it was parsed; `null` if absent
    void reject(HttpConnection connection, ParseError reason, @Nullable RequestHead head) {
        ErrorFormat.ErrorBody body = server.dispatcher.rejectionBody(reason);
        int bytes = body.bytes().length;
        Buffer room = out(connection, StatusAndDateCache.MAX_REJECTION_BYTES + bytes);
        firstLines.putRejection(reason.status(), body, room);
        ExchangeEvents.rejected(connection.stream(), reason);
        if (metrics != null) {
            boolean secure = connection.stream().tls() != null;
            String method = head == null ? null : head.rejectedMethod();
            metrics.rejected(method, secure, reason.status(), bytes);
        }
        server.dispatcher.rejected(connection.stream(), reason, bytes, head);
    }

    /// Logs a warning unless it was logged before: clients must not fill the log.
    void warnOnce(Warning warning, Supplier<String> message) {
        if (logged.add(warning)) {
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING,
                    message.get() + ". This warning is logged once per loop.");
        }
    }
}
