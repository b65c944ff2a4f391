package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpMetrics;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.Histogram;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/// Formats metrics for Prometheus.
public final class MetricsText {
    /// The upper bounds of buckets in microseconds.
    private static final long[] BOUNDS = {
        10,
        25,
        50,
        100,
        250,
        500,
        1_000,
        2_500,
        5_000,
        10_000,
        25_000,
        50_000,
        100_000,
        250_000,
        500_000,
        1_000_000,
        2_500_000,
        5_000_000,
        10_000_000
    };

    private static final double NANOS = 1e9;

    private enum Type {
        COUNTER,
        GAUGE,
        HISTOGRAM,
        SUMMARY
    }

    private record Value(
            String name, Type type, String help, ToDoubleFunction<? super LoopMetrics> read) {}

    private record Distribution(
            String name, String help, Function<? super LoopMetrics, Histogram> read) {}

    private static final List<Value> VALUES =
            List.of(
                    gauge(
                            "gyre_loop_utilization",
                            "Fraction of the last second that the loop was active.",
                            LoopMetrics::utilization),
                    counter(
                            "gyre_loop_active_seconds_total",
                            "Time outside waits.",
                            metrics -> seconds(metrics.activeTime())),
                    counter(
                            "gyre_loop_idle_seconds_total",
                            "Time spent waiting for the kernel.",
                            metrics -> seconds(metrics.idleTime())),
                    counter("gyre_loop_ticks_total", "Ticks begun.", LoopMetrics::ticks),
                    counter("gyre_loop_callbacks_total", "Callbacks run.", LoopMetrics::callbacks),
                    counter(
                            "gyre_loop_microtasks_total",
                            "Microtasks run.",
                            LoopMetrics::microtasks),
                    counter("gyre_loop_timers_total", "Timers fired.", LoopMetrics::timers),
                    counter("gyre_loop_tasks_total", "Tasks run.", LoopMetrics::tasks),
                    counter(
                            "gyre_loop_tasks_rejected_total",
                            "Tasks rejected because the queue was full.",
                            LoopMetrics::tasksRejected),
                    gauge("gyre_loop_queued_tasks", "Queued tasks.", LoopMetrics::queuedTasks),
                    counter("gyre_loop_polls_total", "Polls without a wait.", LoopMetrics::polls),
                    counter(
                            "gyre_loop_waits_total",
                            "Waits that could block.",
                            LoopMetrics::sleeps),
                    counter(
                            "gyre_loop_wakeups_total",
                            "Wake-ups written to the kernel.",
                            LoopMetrics::wakeups),
                    counter(
                            "gyre_loop_failures_total",
                            "Exceptions thrown by callbacks.",
                            LoopMetrics::failures),
                    counter(
                            "gyre_loop_unhandled_rejections_total",
                            "Promises rejected without a handler.",
                            LoopMetrics::unhandledRejections),
                    gauge("gyre_loop_promises", "Pending promises.", LoopMetrics::promises),
                    gauge("gyre_loop_operations", "Operations in flight.", LoopMetrics::operations),
                    counter(
                            "gyre_loop_operations_completed_total",
                            "Operations completed.",
                            LoopMetrics::operationsCompleted),
                    gauge(
                            "gyre_loop_buffer_bytes",
                            "Pooled buffer memory in use.",
                            LoopMetrics::bufferMemory),
                    gauge(
                            "gyre_loop_buffer_limit_bytes",
                            "Limit of pooled buffer memory.",
                            LoopMetrics::bufferMemoryLimit),
                    gauge("gyre_connections", "Open connections.", LoopMetrics::streams),
                    counter(
                            "gyre_connections_opened_total",
                            "Connections accepted or opened.",
                            LoopMetrics::streamsOpened),
                    counter(
                            "gyre_connections_moved_in_total",
                            "Connections moved from another loop.",
                            LoopMetrics::streamsMovedIn),
                    counter(
                            "gyre_connections_moved_out_total",
                            "Connections moved to another loop.",
                            LoopMetrics::streamsMovedOut),
                    counter(
                            "gyre_connections_refused_total",
                            "Connections closed at once because of a listener limit.",
                            LoopMetrics::connectionsRefused),
                    counter(
                            "gyre_connections_shed_total",
                            "Connections closed at once for lack of descriptors or memory.",
                            LoopMetrics::connectionsShed),
                    counter(
                            "gyre_exhaustions_total",
                            "Episodes of descriptor exhaustion.",
                            LoopMetrics::exhaustions));

    private static final List<Distribution> DISTRIBUTIONS =
            List.of(
                    new Distribution(
                            "gyre_loop_tick_duration_seconds",
                            "Durations of ticks that ran a callback, without waits.",
                            LoopMetrics::tickDuration),
                    new Distribution(
                            "gyre_loop_poll_wait_seconds",
                            "Durations of waits for the kernel.",
                            LoopMetrics::pollWait),
                    new Distribution(
                            "gyre_loop_task_delay_seconds",
                            "Delays from submit until the task ran, of one task in 16.",
                            LoopMetrics::taskDelay),
                    new Distribution(
                            "gyre_loop_ready_delay_seconds",
                            "Delays from the end of the wait until an I/O callback ran.",
                            LoopMetrics::readyDelay),
                    new Distribution(
                            "gyre_loop_timer_lateness_seconds",
                            "How much later than their deadline timers fired.",
                            LoopMetrics::timerLateness));

    private final StringBuilder out = new StringBuilder(32 << 10);

    private MetricsText() {}

    /// Returns the metrics of loops.
    ///
    /// @param http `null` to omit the metrics of HTTP
    public static String of(List<EventLoop> loops, @Nullable HttpMetrics http) {
        MetricsText text = new MetricsText();
        text.addLoops(loops);
        if (http != null) {
            text.addHttp(http, loops);
        }
        return text.out.toString();
    }

    private static Value counter(
            String name, String help, ToDoubleFunction<? super LoopMetrics> read) {
        return new Value(name, Type.COUNTER, help, read);
    }

    private static Value gauge(
            String name, String help, ToDoubleFunction<? super LoopMetrics> read) {
        return new Value(name, Type.GAUGE, help, read);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / NANOS;
    }

    // ------------------------------------------------------------------ loops

    /// Adds the metrics of loops.
    private void addLoops(List<EventLoop> loops) {
        for (Value each : VALUES) {
            head(each.name, each.type, each.help);
            for (EventLoop loop : loops) {
                sample(each.name, labelsOf(loop), each.read.applyAsDouble(loop.metrics()));
            }
        }
        for (Distribution each : DISTRIBUTIONS) {
            head(each.name, Type.HISTOGRAM, each.help);
            for (EventLoop loop : loops) {
                histogram(each.name, labelsOf(loop), each.read.apply(loop.metrics()));
            }
        }
        addCallbacks(loops);
        addClosed(loops);
    }

    private void addCallbacks(List<EventLoop> loops) {
        String name = "gyre_loop_callback_duration_seconds";
        head(name, Type.HISTOGRAM, "Durations of callbacks with their microtasks.");
        for (EventLoop loop : loops) {
            for (CallbackKind kind : CallbackKind.values()) {
                String labels = labelsOf(loop) + ',' + label("kind", lowerCase(kind));
                histogram(name, labels, loop.metrics().callbackDuration(kind));
            }
        }
    }

    private void addClosed(List<EventLoop> loops) {
        String name = "gyre_connections_closed_total";
        head(name, Type.COUNTER, "Connections closed, by reason.");
        for (EventLoop loop : loops) {
            for (CloseReason reason : CloseReason.values()) {
                String labels = labelsOf(loop) + ',' + label("reason", lowerCase(reason));
                sample(name, labels, loop.metrics().streamsClosed(reason));
            }
        }
    }

    private static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static String labelsOf(EventLoop loop) {
        return label("loop", loop.config().name());
    }

    // ------------------------------------------------------------------ HTTP

    /// Adds the metrics of HTTP, mostly as sums over all loops.
    private void addHttp(HttpMetrics http, List<EventLoop> loops) {
        head("gyre_http_requests_total", Type.COUNTER, "HTTP requests received.");
        for (EventLoop loop : loops) {
            sample("gyre_http_requests_total", labelsOf(loop), http.requests(loop));
        }
        Map<String, List<HttpMetrics.Series>> series = new LinkedHashMap<>();
        for (HttpMetrics.Series each : http.series()) {
            series.computeIfAbsent(labelsOf(each), _ -> new ArrayList<>()).add(each);
        }
        String duration = "http_server_request_duration_seconds";
        head(duration, Type.HISTOGRAM, "Durations of HTTP requests.");
        series.forEach(
                (labels, all) -> {
                    Histogram sum =
                            all.stream()
                                    .map(HttpMetrics.Series::duration)
                                    .reduce(Histogram::plus)
                                    .orElse(Histogram.EMPTY);
                    if (sum.count() > 0) { // Rejected requests have no duration.
                        histogram(duration, labels, sum);
                    }
                });
        addRejected(series);
        addBodySizes(
                "http_server_request_body_size_bytes",
                "Sizes of HTTP request bodies.",
                series,
                HttpMetrics.Series::requestBodyBytes);
        addBodySizes(
                "http_server_response_body_size_bytes",
                "Sizes of HTTP response bodies.",
                series,
                HttpMetrics.Series::responseBodyBytes);
        Map<String, Long> active = new LinkedHashMap<>();
        for (HttpMetrics.Active each : http.active()) {
            String labels =
                    label("http_request_method", each.method())
                            + ','
                            + label("url_scheme", each.scheme());
            active.merge(labels, each.requests(), Long::sum);
        }
        head("http_server_active_requests", Type.GAUGE, "HTTP requests in progress.");
        active.forEach((labels, count) -> sample("http_server_active_requests", labels, count));
        String overflows = "gyre_http_series_overflows_total";
        head(overflows, Type.COUNTER, "HTTP requests counted under the route _other.");
        sample(overflows, "", http.overflows());
    }

    private void addRejected(Map<String, List<HttpMetrics.Series>> series) {
        String name = "gyre_http_requests_rejected_total";
        head(name, Type.COUNTER, "HTTP requests rejected before routing.");
        series.forEach(
                (labels, all) -> {
                    long sum = all.stream().mapToLong(HttpMetrics.Series::rejected).sum();
                    if (sum > 0) {
                        sample(name, labels, sum);
                    }
                });
    }

    private void addBodySizes(
            String name,
            String help,
            Map<String, List<HttpMetrics.Series>> series,
            ToDoubleFunction<? super HttpMetrics.Series> bytes) {
        head(name, Type.SUMMARY, help);
        series.forEach(
                (labels, all) -> {
                    sample(name + "_sum", labels, all.stream().mapToDouble(bytes).sum());
                    sample(
                            name + "_count",
                            labels,
                            all.stream().mapToLong(HttpMetrics.Series::requests).sum());
                });
    }

    private static String labelsOf(HttpMetrics.Series series) {
        StringBuilder labels = new StringBuilder(label("http_request_method", series.method()));
        if (series.route() != null) {
            labels.append(',').append(label("http_route", series.route()));
        }
        labels.append(',').append(label("http_response_status_code", series.statusText()));
        labels.append(',').append(label("url_scheme", series.scheme()));
        if (series.errorType() != null) {
            labels.append(',').append(label("error_type", series.errorType()));
        }
        return labels.toString();
    }

    // ------------------------------------------------------------------ format

    private void head(String name, Type type, String help) {
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ").append(name).append(' ').append(lowerCase(type)).append('\n');
    }

    private void sample(String name, String labels, long value) {
        sample(name, labels).append(value).append('\n');
    }

    private void sample(String name, String labels, double value) {
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            sample(name, labels, (long) value);
        } else {
            sample(name, labels).append(value).append('\n');
        }
    }

    private StringBuilder sample(String name, String labels) {
        out.append(name);
        if (!labels.isEmpty()) {
            out.append('{').append(labels).append('}');
        }
        return out.append(' ');
    }

    private void histogram(String name, String labels, Histogram values) {
        for (long bound : BOUNDS) {
            long count = values.countAtMost(Duration.ofNanos(bound * 1_000));
            sample(name + "_bucket", labels + ",le=\"" + plain(bound) + '"', count);
        }
        sample(name + "_bucket", labels + ",le=\"+Inf\"", values.count());
        sample(name + "_sum", labels, seconds(values.sum()));
        sample(name + "_count", labels, values.count());
    }

    /// Formats microseconds as seconds, without an exponent.
    private static String plain(long micros) {
        return BigDecimal.valueOf(micros, 6).stripTrailingZeros().toPlainString();
    }

    private static String label(String name, String value) {
        String escaped = value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
        return name + "=\"" + escaped + '"';
    }
}
