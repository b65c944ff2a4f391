package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.server.RequestMetrics;
import dev.gyre.metrics.Histogram;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// Counts and times the requests of servers by method, route pattern and status.
///
/// ```java
/// HttpMetrics metrics = HttpMetrics.create();
/// server.use(metrics)
///     .get("/metrics", PrometheusText.handler(group, metrics));
/// ```
///
/// Names and attributes follow the stable HTTP conventions of OpenTelemetry: see [PrometheusText].
///
/// **Measured** are all requests of a server, those rejected before routing included. A duration
/// starts when the loop received the rest of the request's head, and ends when the response is
/// complete, the connection lost, or a WebSocket open. It is zero for rejected requests.
///
/// **Cost.** One clock read per request, and no allocation. A series takes 18 KB per loop. Each
/// loop has at most 1 000. Further ones are counted together under the route `_other`, and by
/// [#overflows()].
///
/// **Order.** Add it to a server, once. Its place among other middleware does not matter, because
/// the server itself measures. In a [RouteGroup] it throws an [IllegalArgumentException].
///
/// **Threads.** One object serves any number of servers and loops. All methods may be called from
/// any thread, and do not slow the loops down.
public sealed interface HttpMetrics extends Middleware permits RequestMetrics {
    /// The requests of one loop with the same attributes.
    ///
    /// @param loop the name of the loop
    /// @param scheme `http` or `https`, of the connection
    /// @param method `_OTHER` if it is none of RFC 9110 or `PATCH`
    /// @param route the pattern; `null` if no route matched; `_other` beyond the limit of series
    /// @param status the status code; 499 if the client left before a response began; for the route
    ///     `_other` the first one of its class, such as 400
    /// @param errorType the status code from 500, `disconnected` if the client left before a
    ///     response began, `truncated` if the connection was lost within the response; `null`
    ///     otherwise
    /// @param duration the durations, and the number of requests
    /// @param requestBodyBytes the sum of all request bodies as received, without their framing
    /// @param responseBodyBytes the sum of all response bodies, without their framing
    record Series(
            String loop,
            String scheme,
            String method,
            @Nullable String route,
            int status,
            @Nullable String errorType,
            Histogram duration,
            long requestBodyBytes,
            long responseBodyBytes) {}

    /// The requests in progress of one loop.
    ///
    /// @param loop the name of the loop
    /// @param scheme `http` or `https`, of the connection
    /// @param method as in [Series]
    /// @param requests the number of requests
    record Active(String loop, String scheme, String method, long requests) {}

    /// Returns new metrics without requests.
    static HttpMetrics create() {
        return new RequestMetrics();
    }

    /// Returns a copy of all series. A loop that replaced a failed one of its group starts anew.
    List<Series> series();

    /// Returns the requests in progress, by loop, scheme and method. Combinations that had no
    /// request yet are left out.
    List<Active> active();

    /// Returns the number of requests received by a loop, in progress and rejected ones included;
    /// zero if it has no measured server.
    long requests(EventLoop loop);

    /// Returns the number of requests counted under the route `_other`.
    long overflows();
}
