package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.LoopTerminatedException;
import dev.gyre.PerLoop;
import dev.gyre.Promise;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.ErrorHandler;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.JsonMapper;
import dev.gyre.http.Middleware;
import dev.gyre.http.Request;
import dev.gyre.http.RouteGroup;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.Durations;
import dev.gyre.io.DrainReport;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// A [LoopServer] per loop of a group, with one definition and common listeners.
///
/// Any thread.
public final class GroupServer implements HttpServerGroup {
    /// Attempts to apply a definition while loops fail and are replaced.
    private static final int MAX_ATTEMPTS = 10;

    /// The server of one loop. The loop closes it.
    private final class Share implements AutoCloseable {
        final LoopServer server;

        /// The number of connections that the drain reset.
        final CompletableFuture<Integer> drained = new CompletableFuture<>();

        // Loop thread only, or the configuring thread while no thread runs the loop.
        private int applied;

        Share(EventLoop loop) {
            server =
                    new LoopServer(
                            loop, config, GroupServer.this::stopListening, GroupServer.this::on);
        }

        /// Applies a new definition. If it throws, it is not kept.
        void define(Consumer<? super LoopServer> definition) {
            definition.accept(server);
            definitions.add(definition);
            applied++;
        }

        /// Applies all definitions that are missing.
        void catchUp() {
            for (; applied < definitions.size(); applied++) {
                definitions.get(applied).accept(server);
            }
        }

        void drain(Duration deadline) {
            Promise<?> _ =
                    server.drain(deadline)
                            .thenAccept(_ -> drained.complete(server.resetConnections()));
        }

        /// Submits a task to the loop. A terminated loop has nothing to do.
        void submit(Runnable task) {
            try {
                server.loop().submitPriority(task);
            } catch (LoopTerminatedException e) {
                // close() is or was called.
            }
        }

        @Override
        public void close() {
            shares.remove(this);
            pastRejections.add(server.rejectedFileRequests());
            drained.complete(0); // GroupListener counts its connections.
        }
    }

    private final LoopGroup group;
    private final HttpConfig config;
    private final PerLoop<Share> perLoop;

    // Shared: written by the configuring thread, read by loops that replace failed ones.
    private final List<Consumer<? super LoopServer>> definitions = new CopyOnWriteArrayList<>();
    private final List<GroupListener> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean secure;

    // Shared: the servers of all current loops.
    private final List<Share> shares = new CopyOnWriteArrayList<>();
    private final LongAdder pastRejections = new LongAdder();

    /// Serializes definitions.
    private final Object configuring = new Object();

    // Shared: guarded by the lock of this server.
    private @Nullable CompletableFuture<DrainReport> drained;
    private @Nullable CompletableFuture<DrainReport> listenersDrained;
    private long drainEnd;

    public GroupServer(LoopGroup group, HttpConfig config) {
        this.group = Objects.requireNonNull(group, "group");
        this.config = Objects.requireNonNull(config, "config");
        perLoop = group.perLoop(this::create);
        group.onShutdown(this::drain);
    }

    private Share create(EventLoop loop) {
        Share share = new Share(loop);
        share.catchUp();
        shares.add(share);
        if (isDrainRequested()) {
            share.drain(remaining()); // It serves those that arrive during the delay.
        }
        return share;
    }

    /// Returns the server of a loop; `null` if absent.
    private @Nullable LoopServer on(EventLoop loop) {
        for (Share each : shares) {
            if (each.server.loop().equals(loop)) {
                return each.server;
            }
        }
        return null;
    }

    @Override
    public LoopGroup group() {
        return group;
    }

    // ------------------------------------------------------------------ definition

    /// Applies a definition to the servers of all loops.
    private HttpServerGroup define(Consumer<? super LoopServer> definition) {
        requireOutside();
        synchronized (configuring) {
            int known = definitions.size();
            Consumer<EventLoop> apply =
                    loop -> {
                        Share share = perLoop.get(loop);
                        share.catchUp();
                        if (definitions.size() == known) {
                            share.define(definition);
                        }
                    };
            for (int attempt = 1; ; attempt++) {
                try {
                    group.forEach(apply);
                    return this;
                } catch (LoopTerminatedException e) {
                    // The loop failed, and another one replaces it.
                    if (attempt == MAX_ATTEMPTS || group.isTerminated()) {
                        throw e;
                    }
                } catch (Throwable e) {
                    if (definitions.size() > known) { // A loop has applied it, and counts it.
                        definitions.set(known, _ -> {});
                    }
                    throw e;
                }
            }
        }
    }

    /// Throws on threads that must not wait for the lock: its owner waits for the loops.
    private void requireOutside() {
        if (Thread.holdsLock(configuring)) {
            throw new IllegalStateException(
                    "the server is being defined: call the methods of the RouteGroup instead");
        }
        try {
            group.forEach(_ -> {}); // Throws on the threads of loops.
        } catch (LoopTerminatedException e) {
            // Another loop replaces it.
        }
    }

    @Override
    public HttpServerGroup route(String method, String pattern, Handler handler) {
        return define(server -> server.route(method, pattern, handler));
    }

    @Override
    public HttpServerGroup any(String pattern, Handler handler) {
        return define(server -> server.any(pattern, handler));
    }

    @Override
    public HttpServerGroup blocking(String method, String pattern, BlockingHandler handler) {
        return define(server -> server.blocking(method, pattern, handler));
    }

    @Override
    public HttpServerGroup webSocket(
            String pattern, WebSocketConfig socket, Consumer<? super WebSocket> opened) {
        return define(server -> server.webSocket(pattern, socket, opened));
    }

    @Override
    public HttpServerGroup webSocket(
            String pattern,
            WebSocketConfig socket,
            BiConsumer<? super Request, ? super WebSocket> opened) {
        return define(server -> server.webSocket(pattern, socket, opened));
    }

    @Override
    public HttpServerGroup files(String prefix, Path directory, FilesConfig files) {
        return define(server -> server.files(prefix, directory, files));
    }

    @Override
    public HttpServerGroup route(String prefix, Consumer<? super RouteGroup> routes) {
        return define(server -> server.route(prefix, routes));
    }

    @Override
    public HttpServerGroup use(Middleware middleware) {
        return define(server -> server.use(middleware));
    }

    @Override
    public <E extends Throwable> HttpServerGroup onError(
            Class<E> type, ErrorHandler<? super E> handler) {
        return define(server -> server.onError(type, handler));
    }

    @Override
    public HttpServerGroup onStatus(int status, Handler handler) {
        return define(server -> server.onStatus(status, handler));
    }

    @Override
    public HttpServerGroup maxBody(long bytes) {
        return define(server -> server.maxBody(bytes));
    }

    @Override
    public HttpServerGroup timeout(Duration timeout) {
        return define(server -> server.timeout(timeout));
    }

    @Override
    public HttpServerGroup host(String name, Consumer<? super RouteGroup> routes) {
        return define(server -> server.host(name, routes));
    }

    @Override
    public HttpServerGroup errorFormat(ErrorFormat format) {
        return define(server -> server.errorFormat(format));
    }

    @Override
    public HttpServerGroup health(String path) {
        return define(server -> server.health(path));
    }

    @Override
    public HttpServerGroup health(String path, Supplier<? extends Promise<?>> check) {
        return define(server -> server.health(path, check));
    }

    @Override
    public HttpServerGroup health(
            String path, Function<? super EventLoop, ? extends Promise<?>> check) {
        Objects.requireNonNull(check, "check");
        return define(server -> server.health(path, () -> check.apply(server.loop())));
    }

    @Override
    public HttpServerGroup jsonMapper(JsonMapper mapper) {
        return define(server -> server.jsonMapper(mapper));
    }

    @Override
    public HttpServerGroup idleTimeout(Duration timeout) {
        return define(server -> server.idleTimeout(timeout));
    }

    // ------------------------------------------------------------------ listening

    @Override
    public HttpServerGroup listen(SocketAddress address, ListenerConfig listening) {
        if (isDrainRequested()) {
            throw new IllegalStateException("cannot listen: the server is shut down");
        }
        ListenerConfig prepared = LoopServer.prepare(address, listening, config);
        listeners.add(
                Listener.on(
                        group,
                        address,
                        // drain() stops listening itself, after HttpConfig.drainDelay().
                        prepared.withDrainOnShutdown(false),
                        stream -> perLoop.get(stream.loop()).server.accept(stream)));
        secure = prepared.streams().tls() != null;
        return this;
    }

    @Override
    public SocketAddress address() {
        if (listeners.isEmpty()) {
            throw new IllegalStateException("the server does not listen yet: call listen first");
        }
        return listeners.getLast().address();
    }

    @Override
    public URI uri() {
        return LoopServer.uri(address(), secure);
    }

    @Override
    public int connections() {
        return listeners.stream().mapToInt(GroupListener::connections).sum();
    }

    @Override
    public CompletionStage<Integer> activeConnections() {
        CompletableFuture<Integer> sum = CompletableFuture.completedFuture(0);
        for (Share each : shares) {
            CompletableFuture<Integer> count =
                    each.server
                            .loop()
                            .call(
                                    () ->
                                            Promise.resolved(
                                                    each.server.loop(),
                                                    each.server.activeConnections()));
            sum = sum.thenCombine(count.exceptionally(_ -> 0), Integer::sum);
        }
        return sum;
    }

    @Override
    public long rejectedFileRequests() {
        long current = shares.stream().mapToLong(each -> each.server.rejectedFileRequests()).sum();
        return current + pastRejections.sum();
    }

    // ------------------------------------------------------------------ shutdown

    private synchronized boolean isDrainRequested() {
        return drained != null;
    }

    @Override
    public CompletionStage<DrainReport> drain(Duration deadline) {
        Durations.requireNotNegative("deadline", deadline);
        CompletableFuture<DrainReport> result;
        synchronized (this) {
            if (drained != null) {
                return drained;
            }
            result = new CompletableFuture<>();
            drained = result;
            drainEnd = nanoTime() + TimeUnit.NANOSECONDS.convert(deadline);
        }
        CompletableFuture<Integer> reset = CompletableFuture.completedFuture(0);
        for (Share each : shares) {
            each.submit(() -> each.drain(deadline));
            reset = reset.thenCombine(each.drained, Integer::sum);
        }
        CompletableFuture<?> _ =
                reset.thenCombine(
                                reset.thenCompose(_ -> drainListeners(remaining())),
                                (byServers, report) ->
                                        new DrainReport(
                                                report.finished() - byServers,
                                                report.reset() + byServers))
                        .thenAccept(result::complete);
        return result;
    }

    /// Returns the time until the deadline of the drain.
    private synchronized Duration remaining() {
        return Duration.ofNanos(Math.max(0, drainEnd - nanoTime()));
    }

    /// The loops of a group have one clock.
    private long nanoTime() {
        return group.loops().getFirst().nanoTime();
    }

    /// Called by the first server whose drain delay has passed.
    private void stopListening(Duration deadline) {
        CompletableFuture<DrainReport> _ = drainListeners(deadline);
    }

    private synchronized CompletableFuture<DrainReport> drainListeners(Duration deadline) {
        CompletableFuture<DrainReport> known = listenersDrained;
        if (known == null) {
            known = CompletableFuture.completedFuture(new DrainReport(0, 0));
            for (GroupListener each : listeners) {
                known = known.thenCombine(each.drain(deadline), GroupServer::sum);
            }
            listenersDrained = known;
        }
        return known;
    }

    private static DrainReport sum(DrainReport one, DrainReport other) {
        return new DrainReport(one.finished() + other.finished(), one.reset() + other.reset());
    }

    @Override
    public void close() {
        synchronized (this) {
            if (drained == null) {
                drained = CompletableFuture.completedFuture(new DrainReport(0, 0));
                drainEnd = nanoTime();
            }
        }
        listeners.forEach(GroupListener::close);
        shares.forEach(each -> each.submit(each.server::close));
    }

    @Override
    public String toString() {
        return "HttpServerGroup[" + group + ", " + connections() + " connections]";
    }
}
