package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.http.internal.server.MetricsText;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/// The metrics of loops and their HTTP servers in the text format of Prometheus.
///
/// ```java
/// HttpMetrics metrics = HttpMetrics.create();
/// server.use(metrics)
///     .get("/metrics", PrometheusText.handler(group, metrics));
/// ```
///
/// `gyre_*` metrics have the label `loop`, except `gyre_http_series_overflows_total` and
/// `gyre_http_requests_rejected_total`. `http_server_*` metrics are sums over all loops. They
/// follow the OpenTelemetry semantic conventions for HTTP; body sizes are summaries instead of
/// histograms.
///
/// | metric | type |
/// |---|---|
/// | `gyre_loop_utilization`, `gyre_loop_queued_tasks`, `gyre_connections`, … | gauge |
/// | `gyre_loop_tasks_rejected_total`, `gyre_connections_closed_total{reason}`, … | counter |
/// | `gyre_loop_task_delay_seconds`, `gyre_loop_callback_duration_seconds{kind}`, … | histogram |
/// | `http_server_request_duration_seconds` | histogram |
/// | `http_server_request_body_size_bytes`, `http_server_response_body_size_bytes` | summary |
/// | `http_server_active_requests` | gauge |
/// | `gyre_http_requests_rejected_total`, `gyre_http_series_overflows_total` | counter |
///
/// Buckets range from 10 µs to 10 s.
///
/// **Threads.** Any. Reading does not slow the loops down.
public final class PrometheusText {
    /// The media type of [#text()].
    public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final Supplier<List<EventLoop>> loops;
    private final @Nullable HttpMetrics http;

    private PrometheusText(Supplier<List<EventLoop>> loops, @Nullable HttpMetrics http) {
        this.loops = loops;
        this.http = http;
    }

    /// Returns the metrics of all loops of a group.
    ///
    /// @param http `null` to omit the metrics of HTTP
    public static PrometheusText of(LoopGroup group, @Nullable HttpMetrics http) {
        return new PrometheusText(Objects.requireNonNull(group, "group")::loops, http);
    }

    /// Returns the metrics of one loop.
    ///
    /// @param http `null` to omit the metrics of HTTP
    public static PrometheusText of(EventLoop loop, @Nullable HttpMetrics http) {
        List<EventLoop> only = List.of(loop);
        return new PrometheusText(() -> only, http);
    }

    /// Returns a handler that sends the metrics of all loops of a group.
    ///
    /// @param http `null` to omit the metrics of HTTP
    public static Handler handler(LoopGroup group, @Nullable HttpMetrics http) {
        return of(group, http).handler();
    }

    /// Returns a handler that sends the metrics of one loop.
    ///
    /// @param http `null` to omit the metrics of HTTP
    public static Handler handler(EventLoop loop, @Nullable HttpMetrics http) {
        return of(loop, http).handler();
    }

    /// Returns a handler that sends [#text()]. It formats on the loop's executor, so that many
    /// series do not delay the loop.
    public Handler handler() {
        return (request, response) ->
                request.loop()
                        .promisify(_ -> text())
                        .then(
                                text ->
                                        response.type(MEDIA_TYPE)
                                                .header("Cache-Control", "no-store")
                                                .text(text));
    }

    /// Returns the current metrics.
    public String text() {
        return MetricsText.of(loops.get(), http);
    }
}
