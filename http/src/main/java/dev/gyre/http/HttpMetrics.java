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
/// Names and attributes follow the OpenTelemetry semantic conventions for HTTP; body sizes are
/// summaries instead of histograms: see [PrometheusText].
///
/// **Scope.** Measures all requests of a server, including those rejected before routing. A
/// duration starts when the head is complete. It ends when the response completes, the connection
/// is lost, or the WebSocket opens. The responses to pipelined requests that arrived together and
/// are handled at once are written together: their durations end at that write. Rejected requests
/// have no duration.
///
/// **Cost.** One clock read per write of responses, and no allocation. A series takes 19 KB per
/// loop. Each loop has at most 200, which take 4 MB. Further ones are counted together under the
/// route `_other`, and by [#overflows()].
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
    /// @param method the method; `_OTHER` unless it is defined in RFC 9110 or is `PATCH`
    /// @param route the pattern; `null` if no route matched; `_other` beyond the limit of series:
    ///     method is then `_OTHER`, scheme `http`, and status the first code of its class
    /// @param status the status code; 499 if the client left before a response began
    /// @param errorType the status code from 500, or `5xx` for the route `_other`; `disconnected`
    ///     if the client left before a response began; `truncated` if the connection was lost
    ///     within the response; `null` by default
    /// @param duration the durations of all requests except rejected ones
    /// @param rejected the number of requests rejected before routing
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
            long rejected,
            long requestBodyBytes,
            long responseBodyBytes) {
        /// The route of all requests beyond the limit of series.
        public static final String OVERFLOW_ROUTE = "_other";

        /// Returns the number of requests, including rejected ones.
        public long requests() {
            return duration.count() + rejected;
        }

        /// Returns the status as text: its class, such as `5xx`, for the route `_other`.
        public String statusText() {
            return OVERFLOW_ROUTE.equals(route) ? status / 100 + "xx" : Integer.toString(status);
        }
    }

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

    /// Returns a copy of all series. They include loops of a group that failed and were replaced.
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
