package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpException;
import dev.gyre.http.Middleware;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.internal.message.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;

/// A handler for one method and pattern, with all that its scopes add. The chain of middleware is
/// composed when routes or middleware are added, never per request.
///
/// ```
///     Step(server's first) ──▶ Step(…) ──▶ Step(innermost group's last) ──▶ Last ──▶ handler
///     └──────────────────────────── absent without middleware ────────────────┘
/// ```
///
/// Loop thread only.
final class Route {
    /// Calls one middleware.
    private record Step(Middleware middleware, Handler next) implements Handler {
        @Override
        public Promise<?> handle(Request request, Response response) throws Exception {
            return ((ServerRequest) request)
                    .exchange()
                    .completion
                    .returned(middleware.handle(request, response, next));
        }
    }

    /// Ends the middleware and calls the handler.
    private record Last(Handler handler) implements Handler {
        @Override
        public Promise<?> handle(Request request, Response response) throws Exception {
            Exchange exchange = ((ServerRequest) request).exchange();
            if (!((ServerResponse) response).isOf(exchange)) {
                throw new IllegalArgumentException(
                        "this response belongs to another request: pass next.handle the request and"
                                + " the response that the middleware got");
            }
            ((ServerResponse) response).requireNotReplaced();
            exchange.beginHandler();
            return exchange.completion.returned(handler.handle(request, response));
        }
    }

    final RouteScope<?> scope;
    final Handler handler;

    /// The pattern; `null` for the route of requests that match none.
    final @Nullable RouteEntry entry;

    // Loop thread only. Changed by compose().
    Handler chain;
    boolean hasMiddleware;
    long maxBody;

    /// Zero for none.
    long timeoutNanos;

    /// The series of its pattern; `null` until the first is needed.
    LoopRequestMetrics.@Nullable RouteSeries metrics;

    Route(RouteScope<?> scope, @Nullable RouteEntry entry, Handler handler) {
        this.scope = scope;
        this.entry = entry;
        this.handler = handler;
        chain = handler;
        compose();
    }

    /// Applies the current state of the scopes.
    void compose() {
        Handler composed = handler;
        hasMiddleware = false;
        for (RouteScope<?> each = scope; each != null; each = each.parent) {
            List<Middleware> middleware = each.middleware();
            for (int i = middleware.size() - 1; i >= 0; i--) {
                Handler next = hasMiddleware ? composed : new Last(handler);
                composed = new Step(middleware.get(i), next);
                hasMiddleware = true;
            }
        }
        chain = composed;
        maxBody = scope.effectiveMaxBody();
        timeoutNanos = scope.effectiveTimeoutNanos();
    }

    private HttpException timeoutFailure() {
        String time = Durations.format(Duration.ofNanos(timeoutNanos));
        return new HttpException(
                503, "the handler did not respond within " + time + ": retry later");
    }

    /// Limits the time until a response begins. Called after the handler has returned.
    void limitTime(Exchange exchange) {
        if (exchange.isEnded() || exchange.response.isCommitted()) {
            return;
        }
        int generation = exchange.generation();
        Timer timer =
                exchange.context
                        .loop
                        .after(
                                Duration.ofNanos(timeoutNanos),
                                _ -> {
                                    if (exchange.isCurrent(generation)) {
                                        exchange.timeOut(timeoutFailure());
                                    }
                                })
                        .unreference();
        exchange.response.onComplete(timer::cancel);
    }
}
