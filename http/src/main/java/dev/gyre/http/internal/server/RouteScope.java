package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.ErrorHandler;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.Handler;
import dev.gyre.http.Middleware;
import dev.gyre.http.Request;
import dev.gyre.http.RouteGroup;
import dev.gyre.http.Routes;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.message.Durations;
import dev.gyre.http.internal.time.Deadline;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// The server, a virtual host or a group: its routes, and what applies to all of them.
///
/// Loop thread only.
///
/// @param <S> the public type
abstract class RouteScope<S extends Routes<S>> implements Routes<S> {
    /// A virtual host, or a group of routes below a prefix.
    static final class Group extends RouteScope<RouteGroup> implements RouteGroup {
        private final LoopServer server;

        Group(RouteScope<?> parent, Router router, String prefix) {
            super(parent, router, prefix);
            server = parent.server();
            parent.groups.add(this);
        }

        @Override
        LoopServer server() {
            return server;
        }

        @Override
        RouteGroup self() {
            return this;
        }

        @Override
        public RouteGroup use(Middleware added) {
            if (added instanceof RequestMetrics) {
                throw new IllegalArgumentException(
                        "HttpMetrics measures all requests of a server: add it to the server, not"
                                + " to a group or host");
            }
            return super.use(added);
        }
    }

    /// Types that match any failure, so a more specific handler for a cause goes before them.
    private static final Set<Class<?>> CATCH_ALL =
            Set.of(Throwable.class, Exception.class, RuntimeException.class, Error.class);

    private static final int MAX_CAUSES = 16;

    /// `null` for the server.
    final @Nullable RouteScope<?> parent;

    final Router router;

    /// The prefix of all routes here, with those of outer groups, without a slash at its end.
    private final String prefix;

    private final List<RouteScope<?>> groups = new ArrayList<>();
    private final List<Route> routes = new ArrayList<>();
    private final List<Middleware> middleware = new ArrayList<>();
    private final Map<Class<?>, ErrorHandler<?>> errorHandlers = new HashMap<>();
    private final Map<Integer, Handler> statusHandlers = new HashMap<>();

    /// Zero for the outer scope's.
    private long maxBody;

    /// Negative for the outer scope's; zero for none.
    private long timeoutNanos = -1;

    /// The route of requests that match none; `null` until it is needed, and after a change.
    private @Nullable Route notFound;

    RouteScope(@Nullable RouteScope<?> parent, Router router, String prefix) {
        this.parent = parent;
        this.router = router;
        this.prefix = prefix;
    }

    abstract LoopServer server();

    abstract S self();

    // ------------------------------------------------------------------ routes

    @Override
    public S route(String method, String pattern, Handler handler) {
        Objects.requireNonNull(handler, "handler");
        if (!method.matches("[A-Z][A-Z0-9-]*")) {
            throw new IllegalArgumentException(
                    "a method must consist of capital letters, such as GET, but is " + method);
        }
        routes.add(router.entry(full(pattern)).add(method, handler, this));
        router.addMethod(method);
        return self();
    }

    @Override
    public S any(String pattern, Handler handler) {
        Objects.requireNonNull(handler, "handler");
        routes.add(router.entry(full(pattern)).addAny(handler, this));
        return self();
    }

    /// Returns a pattern with the prefix of the group.
    private String full(String pattern) {
        if (!prefix.isEmpty() && (pattern.isEmpty() || pattern.equals("/"))) {
            return prefix;
        }
        if (!pattern.startsWith("/")) {
            throw new IllegalArgumentException(
                    "a pattern must begin with a slash, such as /users/{id}, but is " + pattern);
        }
        return prefix + pattern;
    }

    @Override
    public S blocking(String method, String pattern, BlockingHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return route(
                method, pattern, server().blockingRoute(method + " " + full(pattern), handler));
    }

    @Override
    public S webSocket(String pattern, WebSocketConfig config, Consumer<? super WebSocket> opened) {
        return webSocket(pattern, config, new WebSocketUpgrade.WithoutRequest(opened));
    }

    @Override
    public S webSocket(
            String pattern,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened) {
        return route("GET", pattern, new WebSocketUpgrade(server(), config, opened));
    }

    @Override
    public S files(String path, Path directory, FilesConfig config) {
        String place = withoutSlash(full(path));
        if (place.indexOf('{') >= 0 || place.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    "the prefix of files must have no parameters or wildcards, but is "
                            + place
                            + ": it matches all paths below it");
        }
        Handler handler = server().staticFiles.directory(place, directory, config);
        String relative = place.substring(prefix.length());
        if (!place.isEmpty()) {
            get(relative, handler);
        }
        return get(relative + "/{path...}", handler);
    }

    private static String withoutSlash(String path) {
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    @Override
    public S route(String path, Consumer<? super RouteGroup> content) {
        String full = path.isEmpty() ? prefix : withoutSlash(full(path));
        if (!full.isEmpty() && !PathPattern.of(full).rest().isEmpty()) {
            throw new IllegalArgumentException(
                    "the prefix of a group must not end with a rest parameter, but is " + full);
        }
        content.accept(new Group(this, router, full));
        return self();
    }

    // ------------------------------------------------------------------ what applies to them

    @Override
    public S use(Middleware added) {
        middleware.add(Objects.requireNonNull(added, "middleware"));
        compose();
        return self();
    }

    @Override
    public S maxBody(long bytes) {
        maxBody = server().config().withMaxBody(bytes).maxBody();
        compose();
        return self();
    }

    @Override
    public S timeout(Duration timeout) {
        timeoutNanos = Deadline.nanos(Durations.requireNotNegative("timeout", timeout));
        compose();
        return self();
    }

    /// Applies a change to all routes here and in nested groups.
    private void compose() {
        notFound = null;
        routes.forEach(Route::compose);
        groups.forEach(RouteScope::compose);
    }

    /// Returns the route of requests that match none.
    Route notFound() {
        Route known = notFound;
        if (known == null) {
            known = new Route(this, null, new NoRoute(server(), null, null, false));
            notFound = known;
        }
        return known;
    }

    List<Middleware> middleware() {
        return middleware;
    }

    long effectiveMaxBody() {
        return maxBody > 0
                ? maxBody
                : parent == null ? server().config().maxBody() : parent.effectiveMaxBody();
    }

    long effectiveTimeoutNanos() {
        return timeoutNanos >= 0
                ? timeoutNanos
                : parent == null ? 0 : parent.effectiveTimeoutNanos();
    }

    // ------------------------------------------------------------------ errors

    @Override
    public <E extends Throwable> S onError(Class<E> type, ErrorHandler<? super E> handler) {
        errorHandlers.put(
                Objects.requireNonNull(type, "type"), Objects.requireNonNull(handler, "handler"));
        return self();
    }

    @Override
    public S onStatus(int status, Handler handler) {
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException(
                    "the status of an error is from 400 to 599, but is " + status);
        }
        statusHandlers.put(status, Objects.requireNonNull(handler, "handler"));
        return self();
    }

    /// Calls the error handler of this scope or the nearest outer one.
    ///
    /// @param status the status of the default response
    /// @return the handler's promise; `null` if no handler matches
    @Nullable Promise<?> handleFailure(Exchange exchange, Throwable failure, int status)
            throws Exception {
        Throwable cause = failure;
        ErrorHandler<?> handler = null;
        for (int depth = 0; cause != null && depth < MAX_CAUSES && handler == null; depth++) {
            handler = handlerOf(cause.getClass(), false);
            if (handler == null) {
                cause = cause.getCause();
            }
        }
        if (handler == null) {
            cause = failure;
            handler = handlerOf(failure.getClass(), true);
        }
        if (handler != null && cause != null) {
            return call(handler, cause, exchange);
        }
        Handler page = statusHandlers.get(status);
        if (page == null) {
            return parent == null ? null : parent.handleFailure(exchange, failure, status);
        }
        exchange.completion.logUnlessHttpException(failure);
        ServerResponse response = new ServerResponse(exchange);
        return exchange.completion.returned(
                page.handle(new ServerRequest(exchange), response.status(status)));
    }

    /// Returns the handler of the nearest superclass.
    private @Nullable ErrorHandler<?> handlerOf(Class<?> thrown, boolean catchAll) {
        for (Class<?> type = thrown; type != null; type = type.getSuperclass()) {
            ErrorHandler<?> handler = errorHandlers.get(type);
            if (handler != null && CATCH_ALL.contains(type) == catchAll) {
                return handler;
            }
        }
        return null;
    }

    @SuppressWarnings("unchecked") // onError() takes a handler for the type it is stored under.
    private static <E extends Throwable> Promise<?> call(
            ErrorHandler<E> handler, Throwable failure, Exchange exchange) throws Exception {
        return exchange.completion.returned(
                handler.handle(
                        (E) failure, new ServerRequest(exchange), new ServerResponse(exchange)));
    }
}
