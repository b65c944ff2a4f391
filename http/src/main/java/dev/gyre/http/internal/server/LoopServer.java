package dev.gyre.http.internal.server;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.JsonMapper;
import dev.gyre.http.Middleware;
import dev.gyre.http.RouteGroup;
import dev.gyre.http.WebSocket;
import dev.gyre.http.internal.time.Deadline;
import dev.gyre.http.internal.websocket.LoopWebSocket;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// A server: its routes, its listeners and its connections, until the last one is closed.
///
/// ```
///               drain()               delay over              last connection closed
///     serving ──────────▶ unhealthy ─────────────▶ draining ─────────────────────────▶ ended
/// ```
///
/// Loop thread only.
public final class LoopServer extends RouteScope<HttpServer> implements HttpServer {
    private final EventLoop loop;
    private final HttpConfig config;
    private final ServerContext context;
    final Dispatcher dispatcher;
    final StaticFiles staticFiles;

    /// Stops listening. Receives the time until open connections are reset.
    private final Consumer<? super Duration> stopListeners;

    /// `null` if none are configured.
    final @Nullable TrustedProxies trustedProxies;

    private final Function<EventLoop, @Nullable LoopServer> siblings;

    // Loop thread only.
    private JsonMapper jsonMapper = JsonMapper.writeOnly();
    private long idleNanos;

    private final List<Listener> listeners = new ArrayList<>();
    private final Set<HttpConnection> connections = new LinkedHashSet<>();
    private final Map<WebSocket, Stream> sockets = new LinkedHashMap<>();

    /// Whether the last listener has TLS.
    private boolean secure;

    /// Set by the first [#drain] or [#close].
    private @Nullable Deferred<@Nullable Void> drained;

    private boolean draining;
    private @Nullable Timer drainTimer;
    private int resetConnections;

    /// The number of blocking handlers that run, except those that wait for their clients.
    private int blocking;

    public LoopServer(EventLoop loop, HttpConfig config) {
        this(loop, config, null, _ -> null);
    }

    /// Creates the server of one loop of a group.
    ///
    /// @param stopListeners stops the group's listeners; `null` if the server has its own
    /// @param siblings returns the server of another loop; `null` if absent
    LoopServer(
            EventLoop loop,
            HttpConfig config,
            @Nullable Consumer<? super Duration> stopListeners,
            Function<EventLoop, @Nullable LoopServer> siblings) {
        super(null, new Router(), "");
        this.siblings = siblings;
        this.stopListeners =
                stopListeners == null ? _ -> listeners.forEach(Listener::close) : stopListeners;
        this.loop = Objects.requireNonNull(loop, "loop");
        this.config = Objects.requireNonNull(config, "config");
        idleNanos = Deadline.nanos(config.idleTimeout());
        List<String> proxies = config.trustedProxies();
        trustedProxies = proxies.isEmpty() ? null : new TrustedProxies(proxies);
        context = new ServerContext(this, loop, config);
        staticFiles = new StaticFiles(loop);
        dispatcher = new Dispatcher(this);
    }

    @Override
    LoopServer server() {
        return this;
    }

    @Override
    HttpServer self() {
        return this;
    }

    HttpConfig config() {
        return config;
    }

    // ------------------------------------------------------------------ configuration

    @Override
    public HttpServer host(String name, Consumer<? super RouteGroup> routes) {
        VirtualHosts known = dispatcher.hosts == null ? new VirtualHosts() : dispatcher.hosts;
        RouteScope.Group group = known.group(this, name);
        dispatcher.hosts = known;
        routes.accept(group);
        return this;
    }

    @Override
    public HttpServer errorFormat(ErrorFormat format) {
        dispatcher.errorFormat = Objects.requireNonNull(format, "format");
        return this;
    }

    @Override
    public HttpServer health(String path) {
        return health(new HealthHandler(this, path, null), path);
    }

    @Override
    public HttpServer health(String path, Supplier<? extends Promise<?>> check) {
        return health(new HealthHandler(this, path, Objects.requireNonNull(check, "check")), path);
    }

    @Override
    public HttpServer health(String path, Function<? super EventLoop, ? extends Promise<?>> check) {
        Objects.requireNonNull(check, "check");
        return health(path, () -> check.apply(loop()));
    }

    private HttpServer health(HealthHandler handler, String path) {
        dispatcher.healthRoutes++;
        return get(path, handler);
    }

    @Override
    public HttpServer jsonMapper(JsonMapper mapper) {
        jsonMapper = Objects.requireNonNull(mapper, "mapper");
        return this;
    }

    JsonMapper jsonMapper() {
        return jsonMapper;
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
    public HttpServer use(Middleware added) {
        if (!(added instanceof RequestMetrics metrics)) {
            return super.use(added);
        }
        if (context.metrics != null) {
            throw new IllegalStateException("the server has HttpMetrics already: remove one");
        }
        context.metrics = metrics.on(loop);
        return this;
    }

    // ------------------------------------------------------------------ blocking handlers

    Handler blockingRoute(String name, BlockingHandler handler) {
        context.onLoop.expectThreads();
        return new BlockingRoute(this, name, handler);
    }

    /// Whether one more blocking handler may run.
    boolean mayBlock() {
        return blocking < config.maxBlocking();
    }

    void countBlocking(int more) {
        blocking += more;
    }

    // ------------------------------------------------------------------ listening

    @Override
    public HttpServer listen(SocketAddress address, ListenerConfig listening) {
        if (drained != null) {
            throw new IllegalStateException("cannot listen: the server is shut down");
        }
        ListenerConfig prepared = prepare(address, listening, config);
        listeners.add(Listener.on(loop, address, prepared, this::accept));
        secure = prepared.streams().tls() != null;
        return this;
    }

    /// Returns the configuration of a listener for HTTP.
    static ListenerConfig prepare(
            SocketAddress address, ListenerConfig listening, HttpConfig config) {
        if (address instanceof InetSocketAddress tcp && tcp.isUnresolved()) {
            throw new IllegalArgumentException(
                    "cannot resolve host "
                            + tcp.getHostString()
                            + ": use an address of this machine, such as 127.0.0.1 or 0.0.0.0");
        }
        ListenerConfig timed =
                listening.withStreams(
                        listening
                                .streams()
                                .withWriteTimeout(config.writeTimeout())
                                // A client that does not read its responses gets no more of them.
                                .withReadsUnderBackpressure(false)
                                .withInputLimit(
                                        Math.max(
                                                listening.streams().inputLimit(),
                                                config.maxHeaderBytes() + 1)));
        Tls tls = timed.streams().tls();
        if (tls != null && tls.isServer() && tls.protocols().isEmpty()) {
            timed = timed.withTls(tls.withProtocols("http/1.1", "http/1.0"));
        }
        return timed;
    }

    void accept(Stream stream) {
        HttpConnection connection = new HttpConnection(context, stream);
        connections.add(connection);
        stream.protocol(connection);
        if (draining) {
            connection.drain();
        }
    }

    /// Serves a stream that has moved from another loop of the group.
    private record Arrival(LoopServer server) implements Protocol {
        @Override
        public void onData(Stream stream, Buffer data) {
            throw new AssertionError("input before the arrival of " + stream);
        }

        @Override
        public void onMoved(Stream stream) {
            server.accept(stream);
        }
    }

    /// Passes an idle connection to the server of the loop that its stream moves to.
    ///
    /// @return false if it is not idle, or that loop has no server
    boolean handOver(HttpConnection connection, EventLoop target) {
        LoopServer next = on(target);
        if (next == null || connection.isBusy()) {
            return false;
        }
        Stream stream = connection.stream();
        connection.onClose(stream, CloseReason.CLOSED); // Ends its use of this loop.
        stream.protocol(new Arrival(next));
        return true;
    }

    void forget(HttpConnection connection) {
        if (connections.remove(connection)) {
            resolveIfDrained();
        }
    }

    void add(LoopWebSocket socket, HttpConnection connection) {
        socket.setMoveListener(new ServedSocket(this, socket, connection));
    }

    void add(WebSocket socket, Stream stream) {
        sockets.put(socket, stream);
        if (draining) {
            loop.microtask(() -> closeForShutdown(socket));
        }
    }

    void forget(WebSocket socket) {
        sockets.remove(socket);
        resolveIfDrained();
    }

    /// Returns the server of another loop of the group; null if absent.
    @Nullable LoopServer on(EventLoop other) {
        return siblings.apply(other);
    }

    ServerContext context() {
        return context;
    }

    private static void closeForShutdown(WebSocket socket) {
        socket.close(1001, "the server is going away");
    }

    @Override
    public SocketAddress address() {
        if (listeners.isEmpty()) {
            throw new IllegalStateException("the server does not listen yet: call listen first");
        }
        return listeners.getLast().address();
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public URI uri() {
        return uri(address(), secure);
    }

    static URI uri(SocketAddress address, boolean secure) {
        if (!(address instanceof InetSocketAddress tcp)) {
            throw new IllegalStateException(
                    address + " has no URI: only for TCP, where address() has a port");
        }
        InetAddress host = tcp.getAddress();
        String text = host.getHostAddress();
        boolean local = host.isAnyLocalAddress() || text.equals("127.0.0.1");
        String name = local ? "localhost" : text.indexOf(':') < 0 ? text : "[" + text + "]";
        return URI.create((secure ? "https://" : "http://") + name + ":" + tcp.getPort() + "/");
    }

    @Override
    public int connections() {
        return connections.size() + sockets.size();
    }

    @Override
    public int activeConnections() {
        return sockets.size() + (int) connections.stream().filter(HttpConnection::isBusy).count();
    }

    @Override
    public long rejectedFileRequests() {
        return staticFiles.rejected();
    }

    // ------------------------------------------------------------------ shutdown

    /// Whether connections close after the response in progress.
    boolean isDraining() {
        return draining;
    }

    /// Whether [#drain] was called: the server may still listen for the delay.
    boolean isDrainRequested() {
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
        Duration delay = config.drainDelay();
        if (delay.isZero()) {
            stopListening(deadline);
        } else {
            Duration wait = delay.compareTo(deadline) < 0 ? delay : deadline;
            drainTimer = loop.after(wait, _ -> stopListening(deadline.minus(wait)));
        }
        return made.promise();
    }

    private void stopListening(Duration deadline) {
        draining = true;
        drainTimer = loop.after(deadline, _ -> cut());
        stopListeners.accept(deadline);
        List.copyOf(connections).forEach(HttpConnection::drain);
        List.copyOf(sockets.keySet()).forEach(LoopServer::closeForShutdown);
        resolveIfDrained();
    }

    private void cut() {
        resetConnections += connections();
        List.copyOf(connections).forEach(each -> each.stream().abort());
        List.copyOf(sockets.values()).forEach(Stream::abort);
    }

    /// Returns the number of connections that were reset at the deadline.
    int resetConnections() {
        return resetConnections;
    }

    private void resolveIfDrained() {
        Deferred<@Nullable Void> waiting = drained;
        if (waiting != null && draining && connections.isEmpty() && sockets.isEmpty()) {
            staticFiles.close();
            Timer timer = drainTimer;
            if (timer != null) {
                timer.cancel();
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
        draining = true;
        listeners.forEach(Listener::close);
        cut();
        staticFiles.close();
        resolveIfDrained();
    }
}
