package dev.gyre.http.internal.client;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.http.ClientRequest;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.http.internal.message.Origin;
import dev.gyre.http.internal.message.RequestHeadBuilder;
import dev.gyre.http.internal.message.ResponseHead;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.net.URI;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/// The exchanges of a client, and a [ConnectionPool] for each origin in use.
public final class LoopClient implements HttpClient {
    private static final Pattern METHOD = Pattern.compile("[A-Z][A-Z0-9-]*");

    private final EventLoop loop;
    private final HttpClientConfig config;
    private final ResponseHead head;

    // Loop thread only.
    private final Map<Origin, ConnectionPool> pools = new HashMap<>();
    private final Set<ClientExchange> pending = new LinkedHashSet<>();
    private @Nullable StreamConfig plaintextStreams;
    private @Nullable StreamConfig tlsStreams;

    // Shared: set by any thread, once.
    private volatile boolean closed;

    /// @throws IllegalArgumentException if the configured TLS is a server's
    public LoopClient(EventLoop loop, HttpClientConfig config) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.config = Objects.requireNonNull(config, "config");
        Tls tls = config.streams().tls();
        if (tls != null && tls.isServer()) {
            throw new IllegalArgumentException(
                    "the TLS of a client must be Tls.client(), but is " + tls);
        }
        head = new ResponseHead(config.maxHeaderBytes(), config.maxHeaderCount());
    }

    EventLoop loop() {
        return loop;
    }

    HttpClientConfig config() {
        return config;
    }

    ResponseReader newReader() {
        return new ResponseReader(head, config, HeapBudget.of(loop));
    }

    /// Returns the configuration of streams to an origin, with room for the largest head.
    StreamConfig streams(Origin origin) {
        StreamConfig known = origin.secure() ? tlsStreams : plaintextStreams;
        if (known != null) {
            return known;
        }
        StreamConfig streams = config.streams();
        int inputLimit = Math.max(streams.inputLimit(), config.maxHeaderBytes() + 1);
        if (origin.secure()) {
            Tls own = streams.tls();
            Tls tls = own != null ? own : Tls.client().withProtocols("http/1.1");
            // Created once: sessions are resumed with the same instance only.
            tlsStreams = streams.withInputLimit(inputLimit).withTls(tls);
            return tlsStreams;
        }
        plaintextStreams = streams.withInputLimit(inputLimit).withTls(null);
        return plaintextStreams;
    }

    /// Checks the thread for methods that do not call the loop. Another thread may start or stop
    /// running the loop at the same time.
    void requireConfined(String method) {
        if (!loop.isLoopThread()) {
            LoopState state = loop.state();
            if (state == LoopState.RUNNING || state == LoopState.SLEEPING) {
                throw new WrongThreadException(
                        method
                                + " was called on "
                                + Thread.currentThread()
                                + ", but is confined to the thread of loop "
                                + loop.config().name()
                                + ": use loop.submit, or wait for the response with"
                                + " loop.call(() -> client.get(uri)).get()");
            }
        }
    }

    @Override
    public ClientRequest request(String method, URI uri) {
        requireConfined("HttpClient.request");
        if (!METHOD.matcher(method).matches() || method.equals("CONNECT")) {
            throw new IllegalArgumentException(
                    "the method must be in capitals and not CONNECT, but is " + method);
        }
        if (closed) {
            throw new IllegalStateException("the client is closed: create another one");
        }
        URI ascii = URI.create(uri.toASCIIString());
        return new ClientExchange(this, new RequestHeadBuilder(method, ascii));
    }

    /// Sends a request, now or when a connection is free.
    void execute(ClientExchange exchange) {
        pending.add(exchange);
        if (closed) {
            exchange.reject(closedException());
        } else {
            pools.computeIfAbsent(
                            exchange.head.origin(), origin -> new ConnectionPool(this, origin))
                    .execute(exchange);
        }
    }

    /// Removes an exchange that waits for a connection.
    void forget(ClientExchange exchange) {
        ConnectionPool pool = pools.get(exchange.head.origin());
        if (pool != null) {
            pool.forget(exchange);
        }
    }

    void done(ClientExchange exchange) {
        pending.remove(exchange);
    }

    void remove(Origin unused) {
        pools.remove(unused);
    }

    @Override
    public int connections() {
        requireConfined("HttpClient.connections");
        return pools.values().stream().mapToInt(ConnectionPool::connections).sum();
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        if (loop.isLoopThread()) {
            closeOnLoop();
            return;
        }
        try {
            loop.submitPriority(this::closeOnLoop);
        } catch (LoopTerminatedException _) {
            // The loop has closed everything.
        }
    }

    private void closeOnLoop() {
        for (ClientExchange exchange : List.copyOf(pending)) {
            exchange.reject(closedException());
        }
        List.copyOf(pools.values()).forEach(ConnectionPool::close);
    }

    private static StreamClosedException closedException() {
        return new StreamClosedException("the client was closed", CloseReason.ABORTED, null);
    }
}
