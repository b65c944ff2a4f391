package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/// The metrics of all loops in the Prometheus text format. Any thread may read them, at no cost for
/// the loops.
final class PrometheusText {
    static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String COUNTER = "counter";
    private static final String GAUGE = "gauge";

    private static final List<Metric> METRICS =
            List.of(
                    of("ticks_total", COUNTER, "Ticks started.", LoopMetrics::ticks),
                    of("callbacks_total", COUNTER, "Callbacks run.", LoopMetrics::callbacks),
                    of("microtasks_total", COUNTER, "Microtasks run.", LoopMetrics::microtasks),
                    of("timers_total", COUNTER, "Timers fired.", LoopMetrics::timers),
                    of("tasks_total", COUNTER, "Tasks run.", LoopMetrics::tasks),
                    of("sleeps_total", COUNTER, "Waits that might block.", LoopMetrics::sleeps),
                    of("wakeups_total", COUNTER, "Wake-up signals.", LoopMetrics::wakeups),
                    of(
                            "failures_total",
                            COUNTER,
                            "Exceptions thrown by callbacks.",
                            LoopMetrics::failures),
                    of("operations", GAUGE, "Operations in flight.", LoopMetrics::operations),
                    of(
                            "operations_total",
                            COUNTER,
                            "Operations completed.",
                            LoopMetrics::operationsCompleted),
                    of("buffer_bytes", GAUGE, "Pooled memory in use.", LoopMetrics::bufferMemory),
                    of("promises", GAUGE, "Pending promises.", LoopMetrics::promises),
                    of("queued_tasks", GAUGE, "Queued tasks.", LoopMetrics::queuedTasks),
                    of("connections", GAUGE, "Open connections.", LoopMetrics::streams),
                    of(
                            "connections_total",
                            COUNTER,
                            "Connections accepted or opened.",
                            LoopMetrics::streamsOpened),
                    of(
                            "connections_refused_total",
                            COUNTER,
                            "Connections closed at once because of a listener limit.",
                            LoopMetrics::connectionsRefused),
                    of(
                            "connections_shed_total",
                            COUNTER,
                            "Connections closed at once for lack of descriptors.",
                            LoopMetrics::connectionsShed),
                    of(
                            "exhaustions_total",
                            COUNTER,
                            "Episodes of descriptor exhaustion.",
                            LoopMetrics::exhaustions));

    private final WebServer web;

    private record Metric(
            String name, String type, String help, ToLongFunction<? super LoopMetrics> value) {}

    PrometheusText(WebServer web) {
        this.web = web;
    }

    private static Metric of(
            String name, String type, String help, ToLongFunction<? super LoopMetrics> value) {
        return new Metric(name, type, help, value);
    }

    String text() {
        StringBuilder out = new StringBuilder(8 << 10);
        List<EventLoop> loops = web.group().loops();
        for (Metric metric : METRICS) {
            head(out, metric.name, metric.type, metric.help);
            for (EventLoop each : loops) {
                sample(out, metric.name, each, "", metric.value.applyAsLong(each.metrics()));
            }
        }
        head(out, "http_requests_total", COUNTER, "Requests received.");
        for (EventLoop each : loops) {
            sample(out, "http_requests_total", each, "", web.requests(each));
        }
        head(out, "connections_closed_total", COUNTER, "Connections closed, by reason.");
        for (EventLoop each : loops) {
            for (CloseReason reason : CloseReason.values()) {
                String label = ",reason=\"" + reason.name().toLowerCase(Locale.ROOT) + '"';
                long closed = each.metrics().streamsClosed(reason);
                sample(out, "connections_closed_total", each, label, closed);
            }
        }
        head(
                out,
                "http_rejected_file_requests_total",
                COUNTER,
                "File requests that got 503 for lack of descriptors or workers.");
        out.append("gyre_http_rejected_file_requests_total ");
        return out.append(web.server().rejectedFileRequests()).append('\n').toString();
    }

    private static void head(StringBuilder out, String name, String type, String help) {
        out.append("# HELP gyre_").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE gyre_").append(name).append(' ').append(type).append('\n');
    }

    private static void sample(
            StringBuilder out, String name, EventLoop loop, String label, long value) {
        out.append("gyre_").append(name);
        out.append("{loop=\"").append(loop.config().name()).append('"').append(label);
        out.append("} ").append(value).append('\n');
    }
}
