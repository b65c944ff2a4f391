package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.HttpException;
import dev.gyre.http.Middleware;
import dev.gyre.http.RejectedRequest;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Finds the route of each request and calls its chain. Produces the responses to failures.
///
/// Loop thread only.
final class Dispatcher {
    private static final int MAX_REJECTION_BYTES = 16 << 10;

    private final LoopServer server;
    private final Router router;

    // Loop thread only.
    @Nullable VirtualHosts hosts;
    ErrorFormat errorFormat = ErrorFormat.TEXT;

    /// The number of the server's routes that are health endpoints.
    int healthRoutes;

    Dispatcher(LoopServer server) {
        this.server = server;
        router = server.router;
    }

    /// Finds the route of a request and calls its chain.
    ///
    /// The handles cost nothing where the JIT compiler inlines the handler here, which it does for
    /// up to two handlers that get most of the requests.
    Promise<?> dispatch(Exchange exchange, @Nullable NotInlined mark) throws Exception {
        Route route = route(exchange, null);
        Promise<?> returned =
                exchange.completion.returned(
                        route.chain.handle(
                                new ServerRequest(exchange), new ServerResponse(exchange)));
        if (route.timeoutNanos != 0) {
            route.limitTime(exchange);
        }
        return returned;
    }

    /// Finds the route of a request, and applies its limits.
    @SuppressWarnings("UnusedVariable") // Only the type of the mark matters.
    private Route route(Exchange exchange, @Nullable NotInlined mark) {
        RouteScope<?> scope = hosts == null ? server : scopeOf(exchange, hosts);
        RouteEntry entry = (hosts == null ? router : scope.router).literal(exchange.head);
        Route route = entry == null ? null : entry.route(exchange.head.method());
        if (route == null) {
            route = search(exchange, scope);
        }
        exchange.begin(route);
        return route;
    }

    private RouteScope<?> scopeOf(Exchange exchange, VirtualHosts known) {
        RouteScope.Group host = known.find(exchange.head);
        return host == null ? server : host;
    }

    /// Finds a route by parameters, among several entries of a path, or outside the host.
    private Route search(Exchange exchange, RouteScope<?> scope) {
        Router.Search search;
        try {
            search = new Router.Search(exchange.head.rawPath(), exchange.head.method());
        } catch (HttpException malformed) {
            return new Route(scope, null, new NoRoute(server, null, malformed, false));
        }
        Route route = search.in(scope.router);
        if (route == null && scope != server) {
            route = search.in(router);
        }
        if (route == null) {
            boolean misdirected = hosts != null && scope == server && router.size() <= healthRoutes;
            String allowed = search.allowed();
            return allowed == null && !misdirected
                    ? scope.notFound()
                    : new Route(scope, null, new NoRoute(server, allowed, null, misdirected));
        }
        exchange.values = search.values();
        return route;
    }

    boolean hasMethod(String method) {
        VirtualHosts known = hosts;
        return router.hasMethod(method) || (known != null && known.hasMethod(method));
    }

    // ------------------------------------------------------------------ errors

    /// Sends the response to a request whose handler failed.
    Promise<?> respondToFailure(Exchange exchange, Throwable failure) throws Exception {
        Route route = exchange.route;
        RouteScope<?> scope = route == null ? server : route.scope;
        Promise<?> handled =
                scope.handleFailure(exchange, failure, HandlerCompletion.statusOf(failure));
        return handled == null ? exchange.completion.sendDefaultError(failure) : handled;
    }

    /// Formats the body of an error response.
    ///
    /// @param errors as [HttpException#errors()]
    ErrorFormat.ErrorBody errorBody(int status, String message, Map<String, String> errors) {
        try {
            return Objects.requireNonNull(
                    errorFormat.format(status, message, errors),
                    "ErrorFormat.format returned null");
        } catch (RuntimeException e) {
            HttpLog.LOGGER.log(
                    System.Logger.Level.ERROR,
                    "the ErrorFormat threw for status " + status + ": sent plain text instead",
                    e);
            return ErrorFormat.TEXT.format(status, message, Map.of());
        }
    }

    /// Formats the body of an error response. One that is too large is text.
    ErrorFormat.ErrorBody errorBody(int status, String message, int maxBytes) {
        ErrorFormat.ErrorBody body = errorBody(status, message, Map.of());
        return body.bytes().length <= maxBytes && body.contentType().length() <= 256
                ? body
                : ErrorFormat.TEXT.format(status, message, Map.of());
    }

    /// Formats the body of a rejection before routing.
    ErrorFormat.ErrorBody rejectionBody(ParseError reason) {
        return errorBody(reason.status(), reason.reason(), MAX_REJECTION_BYTES);
    }

    /// Notifies middleware of a request rejected before routing.
    ///
    /// @param head as far as it was parsed; `null` if not at all
    void rejected(Stream stream, ParseError reason, int bodyBytes, @Nullable RequestHead head) {
        List<Middleware> middleware = server.middleware();
        if (middleware.isEmpty()) {
            return;
        }
        RejectedRequest rejected =
                new RejectedRequest(
                        stream.peer(),
                        head == null ? null : head.rejectedMethod(),
                        head == null ? null : head.rejectedTarget(),
                        reason.status(),
                        reason.reason(),
                        bodyBytes,
                        stream.id());
        middleware.forEach(each -> UserCallbacks.run(each::onRejected, rejected, null));
    }
}
