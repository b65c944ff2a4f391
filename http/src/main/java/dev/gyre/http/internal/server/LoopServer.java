package dev.gyre.http.internal.server;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpException;
import dev.gyre.http.HttpServer;
import dev.gyre.http.Middleware;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.Percent;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// A server: its routes, its listeners, and the connections they brought.
///
/// Loop thread only.
public final class LoopServer implements HttpServer {
    private final EventLoop loop;
    private final HttpConfig config;
    private final Workbench bench;
    private final Routes routes = new Routes();
    private final Entrance entrance = new Entrance(this::dispatch);
    final StaticFiles staticFiles;
    private final List<Listener> listeners = new ArrayList<>();
    private final Set<HttpConnection> connections = new LinkedHashSet<>();
    private final Map<WebSocket, Stream> sockets = new LinkedHashMap<>();
    private @Nullable ErrorHandler errors;
    private JsonWriter json = Json::write;
    private long idleNanos;

    /// Whether the last listener has TLS.
    private boolean secure;

    /// How many handlers block, and not for want of what their peers should do.
    private int blocking;

    private @Nullable Deferred<@Nullable Void> drained;
    private @Nullable Timer deadlineOfDrain;

    public LoopServer(EventLoop loop, HttpConfig config) {
        this.loop = Objects.requireNonNull(loop, "loop");
        this.config = Objects.requireNonNull(config, "config");
        idleNanos = Deadline.nanos(config.idleTimeout());
        bench = new Workbench(this, loop, config);
        staticFiles = new StaticFiles(loop);
    }

    // ------------------------------------------------------------------ routes

    @Override
    public HttpServer route(String method, String pattern, Handler handler) {
        Objects.requireNonNull(handler, "handler");
        routes.add(requireMethod(method), pattern, handler);
        return this;
    }

    private static String requireMethod(String method) {
        if (!method.matches("[A-Z][A-Z0-9-]*")) {
            throw new IllegalArgumentException("a method is a word in capitals, not " + method);
        }
        return method;
    }

    @Override
    public HttpServer any(String pattern, Handler handler) {
        routes.addAny(pattern, Objects.requireNonNull(handler, "handler"));
        return this;
    }

    @Override
    public HttpServer blocking(String method, String pattern, BlockingHandler handler) {
        Objects.requireNonNull(handler, "handler");
        bench.onLoop.expectThreads();
        return route(method, pattern, new BlockingRoute(this, method + " " + pattern, handler));
    }

    /// Whether there is a place for one more handler that blocks.
    boolean mayBlock() {
        return blocking < config.maxBlocking();
    }

    void countBlocking(int more) {
        blocking += more;
    }

    @Override
    public HttpServer webSocket(
            String pattern, WebSocketConfig config, Consumer<? super WebSocket> opened) {
        return route("GET", pattern, new Upgrade(this, config, opened));
    }

    @Override
    public HttpServer webSocket(
            String pattern,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened) {
        return route("GET", pattern, new Upgrade(this, config, opened));
    }

    @Override
    public HttpServer files(String prefix, Path directory, FilesConfig config) {
        if (!prefix.startsWith("/") || prefix.indexOf('{') >= 0 || prefix.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    "a prefix is a path without parameters and wildcards, and stands for all below"
                            + " it: "
                            + prefix);
        }
        String place = prefix.endsWith("/") ? prefix.substring(0, prefix.length() - 1) : prefix;
        Handler handler = staticFiles.directory(place, directory, config);
        if (!place.isEmpty()) {
            get(place, handler);
        }
        return get(place + "/{path...}", handler);
    }

    @Override
    public HttpServer use(Middleware added) {
        entrance.add(added);
        return this;
    }

    @Override
    public HttpServer onError(ErrorHandler handler) {
        errors = Objects.requireNonNull(handler, "handler");
        return this;
    }

    @Override
    public HttpServer json(JsonWriter writer) {
        json = Objects.requireNonNull(writer, "writer");
        return this;
    }

    String toJson(@Nullable Object value) {
        return json.write(value);
    }

    @Override
    public HttpServer idleTimeout(Duration timeout) {
        idleNanos = Deadline.nanos(config.withIdleTimeout(timeout).idleTimeout());
        return this;
    }

    long idleNanos() {
        return idleNanos;
    }

    @Override
    public HttpServer maxBody(String pattern, long bytes) {
        Site site = routes.known(pattern);
        if (site == null) {
            throw new IllegalArgumentException(
                    "there is no route " + pattern + " yet: add it first, spelled the same");
        }
        site.limitBody(config.withMaxBody(bytes).maxBody());
        return this;
    }

    // ------------------------------------------------------------------ answering

    /// Finds the handler and calls it.
    ///
    /// A handle costs nothing where the JIT compiler inlines the handler here, which it does with up
    /// to two handlers that get most of the requests.
    Promise<?> answer(Exchange exchange, @Nullable NotInlined mark) throws Exception {
        Handler first = entrance.isEmpty() ? route(exchange, null) : entrance.outermost();
        return exchange.outcome.returned(
                first.handle(new ServerRequest(exchange), new ServerResponse(exchange)));
    }

    /// The end of the middleware chain.
    private Promise<?> dispatch(Request request, Response response) throws Exception {
        Exchange exchange = ((ServerRequest) request).exchange();
        if (!((ServerResponse) response).isOf(exchange)) {
            throw new IllegalArgumentException(
                    "this response belongs to another request: pass both to next.handle as they"
                            + " were given to the middleware");
        }
        return exchange.outcome.returned(route(exchange, null).handle(request, response));
    }

    /// Finds the handler of a request, and notes what its route says.
    @SuppressWarnings("UnusedVariable") // The type of the mark is what counts.
    private Handler route(Exchange exchange, @Nullable NotInlined mark) {
        String method = exchange.head.method();
        Site site = routes.literal(exchange.head);
        Handler handler = site == null ? null : site.handler(method);
        if (site == null || handler == null) {
            Routes.Found found = routes.find(exchange.rawPath(), method);
            handler = found.handler();
            if (handler == null) {
                exchange.limitBody(config.maxBody());
                String allowed = found.allowed();
                return (_, response) -> nobody(exchange, response, allowed);
            }
            site = found.site();
            exchange.noteFound(site, found.values());
        }
        exchange.limitBody(site.maxBody(config.maxBody()));
        return handler;
    }

    /// @param allowed which methods somebody would answer; null if none
    private Promise<?> nobody(Exchange exchange, Response response, @Nullable String allowed) {
        String method = exchange.head.method();
        boolean asks = method.equals("OPTIONS");
        if (asks && allowed != null) {
            return response.header("Allow", allowed).status(204).send();
        }
        if (asks && exchange.head.target().equals("*")) {
            return response.status(204).send();
        }
        if (allowed != null) {
            exchange.response.setLasting("Allow", allowed);
        }
        // CONNECT is for proxies, and names no resource that could be missing.
        boolean usual = exchange.head.isMethodKnown() && !method.equals("CONNECT");
        if (!usual && !routes.knows(method)) {
            throw new HttpException(501, "nobody here knows " + method);
        }
        throw allowed != null
                ? new HttpException(405, method + " is not allowed here")
                : new HttpException(
                        404, "there is nothing at " + Percent.require(exchange.rawPath(), false));
    }

    /// Tells of what never became a request.
    void refused(SocketAddress peer, Refusal refusal, @Nullable RequestHead head) {
        entrance.refused(peer, refusal, head);
    }

    /// Answers for a handler that failed.
    Promise<?> answerFailure(Exchange exchange, Throwable failure) throws Exception {
        return errors == null
                ? exchange.outcome.answerPlainly(failure)
                : errors.handle(new ServerRequest(exchange), new ServerResponse(exchange), failure);
    }

    // ------------------------------------------------------------------ listening

    @Override
    public HttpServer listen(int port) {
        return listen(new InetSocketAddress(port), ListenerConfig.DEFAULT);
    }

    @Override
    public HttpServer listen(int port, Tls tls) {
        return listen(new InetSocketAddress(port), ListenerConfig.DEFAULT.withTls(tls));
    }

    @Override
    public HttpServer listen(SocketAddress address, ListenerConfig listening) {
        if (drained != null) {
            throw new IllegalStateException("the server has been ended");
        }
        ListenerConfig timed =
                listening.withStreams(
                        listening
                                .streams()
                                .withWriteTimeout(config.writeTimeout())
                                // Who does not take its answers has no more of them yet.
                                .withReadsUnderBackpressure(false)
                                .withInputLimit(
                                        Math.max(
                                                listening.streams().inputLimit(),
                                                config.maxHead() + 1)));
        Tls tls = timed.streams().tls();
        if (tls != null && tls.isServer() && tls.protocols().isEmpty()) {
            timed = timed.withTls(tls.withProtocols("http/1.1", "http/1.0"));
        }
        listeners.add(Listener.on(loop, address, timed, this::accept));
        secure = timed.streams().tls() != null;
        return this;
    }

    private void accept(Stream stream) {
        HttpConnection connection = new HttpConnection(bench, stream);
        connections.add(connection);
        stream.protocol(connection);
        if (isDraining()) {
            connection.drain();
        }
    }

    void forget(HttpConnection connection) {
        if (connections.remove(connection)) {
            tellIfDrained();
        }
    }

    void add(WebSocket socket, HttpConnection connection) {
        Stream stream = connection.stream();
        sockets.put(socket, stream);
        // That of the stream: the socket's own is the user's.
        stream.onClose(
                reason -> {
                    connection.onClose(stream, reason);
                    sockets.remove(socket);
                    tellIfDrained();
                });
        if (isDraining()) {
            loop.microtask(() -> sayGoodbye(socket));
        }
    }

    private static void sayGoodbye(WebSocket socket) {
        socket.close(1001, "the server is going away");
    }

    @Override
    public SocketAddress address() {
        if (listeners.isEmpty()) {
            throw new IllegalStateException("it listens nowhere yet: call listen");
        }
        return listeners.getLast().address();
    }

    @Override
    public URI uri() {
        return Place.uri(address(), secure);
    }

    @Override
    public int connections() {
        return connections.size() + sockets.size();
    }

    @Override
    public int busy() {
        int busy = sockets.size();
        for (HttpConnection each : connections) {
            busy += each.isBusy() ? 1 : 0;
        }
        return busy;
    }

    @Override
    public long filesRefused() {
        return staticFiles.refused();
    }

    // ------------------------------------------------------------------ ending

    boolean isDraining() {
        return drained != null;
    }

    @Override
    public Promise<@Nullable Void> drain(Duration deadline) {
        Deferred<@Nullable Void> known = drained;
        if (known != null) {
            return known.promise();
        }
        Deferred<@Nullable Void> made = loop.deferred();
        drained = made;
        deadlineOfDrain = loop.after(deadline, _ -> cut());
        listeners.forEach(Listener::close);
        List.copyOf(connections).forEach(HttpConnection::drain);
        List.copyOf(sockets.keySet()).forEach(LoopServer::sayGoodbye);
        tellIfDrained();
        return made.promise();
    }

    private void cut() {
        List.copyOf(connections).forEach(each -> each.stream().abort());
        List.copyOf(sockets.values()).forEach(Stream::abort);
    }

    private void tellIfDrained() {
        Deferred<@Nullable Void> waiting = drained;
        if (waiting != null && connections.isEmpty() && sockets.isEmpty()) {
            staticFiles.close();
            Timer deadline = deadlineOfDrain;
            if (deadline != null) {
                deadline.cancel();
            }
            waiting.resolve(null);
        }
    }

    @Override
    public void close() {
        if (!loop.isLoopThread()) {
            loop.submitPriority(this::close);
            return;
        }
        if (drained == null) {
            drained = loop.deferred();
        }
        listeners.forEach(Listener::close);
        cut();
        staticFiles.close();
        tellIfDrained();
    }
}
