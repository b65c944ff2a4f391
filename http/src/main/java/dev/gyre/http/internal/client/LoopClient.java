package dev.gyre.http.internal.client;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.http.HttpCall;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpClientConfig;
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

/// A client: what is under way, and a [Pool] for each origin that is in use.
public final class LoopClient implements HttpClient {
    private static final Pattern METHOD = Pattern.compile("[A-Z][A-Z0-9-]*");

    private final EventLoop loop;
    private final HttpClientConfig config;
    private final ResponseHead head;

    // Loop thread only.
    private final Map<Origin, Pool> pools = new HashMap<>();
    private final Set<ClientCall> underWay = new LinkedHashSet<>();
    private @Nullable StreamConfig plain;
    private @Nullable StreamConfig secure;

    // Shared: set by any thread, never taken back.
    private volatile boolean closed;

    /// @throws IllegalArgumentException if its TLS is a server's
    public LoopClient(EventLoop loop, HttpClientConfig config) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.config = Objects.requireNonNull(config, "config");
        Tls tls = config.streams().tls();
        if (tls != null && tls.isServer()) {
            throw new IllegalArgumentException("the TLS of a client is Tls.client(), not " + tls);
        }
        head = new ResponseHead(config.maxHead(), config.maxFields());
    }

    EventLoop loop() {
        return loop;
    }

    HttpClientConfig config() {
        return config;
    }

    AnswerReader reader() {
        return new AnswerReader(head, config.maxHead(), config.maxFields(), config.maxContent());
    }

    /// How connections to there behave: with room for the largest head that is taken.
    StreamConfig streams(Origin origin) {
        StreamConfig known = origin.secure() ? secure : plain;
        if (known != null) {
            return known;
        }
        StreamConfig streams = config.streams();
        Tls own = streams.tls();
        Tls usual =
                own != null ? own : origin.secure() ? Tls.client().withProtocols("http/1.1") : null;
        StreamConfig made =
                streams.withInputLimit(Math.max(streams.inputLimit(), config.maxHead() + 1))
                        .withTls(origin.secure() ? usual : null);
        if (origin.secure()) {
            secure = made; // Once: sessions are resumed as long as it is the same.
        } else {
            plain = made;
        }
        return made;
    }

    /// What has nothing to call in the loop checks by itself: at that very moment somebody may begin to run the
    /// loop, or end it.
    void requireConfined(String method) {
        if (!loop.isLoopThread()) {
            LoopState state = loop.state();
            if (state == LoopState.RUNNING || state == LoopState.SLEEPING) {
                throw new WrongThreadException(
                        method
                                + " belongs to the thread of loop "
                                + loop.config().name()
                                + ", but was called on "
                                + Thread.currentThread()
                                + ": hand it over with submit, or with the answer to wait for:"
                                + " CompletableFuture.supplyAsync(() -> client.get(uri), loop)"
                                + ".join().await()");
            }
        }
    }

    // ------------------------------------------------------------------ calls

    @Override
    public HttpCall request(String method, URI uri) {
        requireConfined("HttpClient.request");
        if (!METHOD.matcher(method).matches() || method.equals("CONNECT")) {
            throw new IllegalArgumentException(
                    "a method is a word in capitals, and none that makes a tunnel, not " + method);
        }
        if (closed) {
            throw new IllegalStateException("the client is closed");
        }
        URI ascii = URI.create(uri.toASCIIString());
        return new ClientCall(this, new Question(method, Origin.of(ascii), ascii));
    }

    void take(ClientCall call) {
        underWay.add(call);
        if (closed) {
            call.reject(closedException());
        } else {
            pools.computeIfAbsent(call.origin(), origin -> new Pool(this, origin)).take(call);
        }
    }

    /// A call has given up before a connection carried it.
    void forget(ClientCall call) {
        Pool pool = pools.get(call.origin());
        if (pool != null) {
            pool.forget(call);
        }
    }

    void done(ClientCall call) {
        underWay.remove(call);
    }

    void retire(Origin origin) {
        pools.remove(origin);
    }

    @Override
    public int connections() {
        requireConfined("HttpClient.connections");
        return pools.values().stream().mapToInt(Pool::connections).sum();
    }

    // ------------------------------------------------------------------ ending

    boolean isClosed() {
        return closed;
    }

    @Override
    public void close() {
        closed = true;
        if (loop.isLoopThread()) {
            closeHere();
            return;
        }
        try {
            loop.submitPriority(this::closeHere);
        } catch (LoopTerminatedException _) {
            // With the loop all of it has ended.
        }
    }

    private void closeHere() {
        for (ClientCall call : List.copyOf(underWay)) {
            call.reject(closedException());
        }
        List.copyOf(pools.values()).forEach(Pool::close);
    }

    private static StreamClosedException closedException() {
        return new StreamClosedException("the client was closed", CloseReason.ABORTED, null);
    }
}
