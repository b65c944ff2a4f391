package dev.gyre.cli.serve;

import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/// The counters of all loops in the text that Prometheus reads. For any thread: reading them costs the loops nothing.
final class Exposition {
    static final String TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final String COUNTER = "counter";
    private static final String GAUGE = "gauge";

    private static final List<Metric> METRICS =
            List.of(
                    of("ticks_total", COUNTER, "Ticks begun.", LoopMetrics::ticks),
                    of("callbacks_total", COUNTER, "Callbacks run.", LoopMetrics::callbacks),
                    of("microtasks_total", COUNTER, "Microtasks run.", LoopMetrics::microtasks),
                    of("timers_total", COUNTER, "Timers fired.", LoopMetrics::timers),
                    of("tasks_total", COUNTER, "Tasks run.", LoopMetrics::tasks),
                    of("sleeps_total", COUNTER, "Waits that might block.", LoopMetrics::sleeps),
                    of("wakeups_total", COUNTER, "Signals to wake up.", LoopMetrics::wakeups),
                    of(
                            "failures_total",
                            COUNTER,
                            "Throwables of callbacks.",
                            LoopMetrics::failures),
                    of("operations", GAUGE, "Operations under way.", LoopMetrics::operations),
                    of(
                            "operations_total",
                            COUNTER,
                            "Operations completed.",
                            LoopMetrics::operationsCompleted),
                    of("buffer_bytes", GAUGE, "Pooled memory in use.", LoopMetrics::bufferMemory),
                    of("promises", GAUGE, "Promises pending.", LoopMetrics::promises),
                    of("queued_tasks", GAUGE, "Tasks that wait.", LoopMetrics::depth),
                    of("connections", GAUGE, "Connections open.", LoopMetrics::streams),
                    of(
                            "connections_total",
                            COUNTER,
                            "Connections so far.",
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
                            LoopMetrics::exhaustions),
                    new Metric(
                            "http_files_refused_total",
                            COUNTER,
                            "File requests that got 503 for lack of descriptors or workers.",
                            each -> each.server().filesRefused()),
                    new Metric(
                            "http_requests_total",
                            COUNTER,
                            "Requests so far.",
                            each -> each.requests().getOpaque()));

    private final ServerLoops loops;

    private record Metric(
            String name, String type, String help, ToLongFunction<? super ServerLoop> value) {}

    Exposition(ServerLoops loops) {
        this.loops = loops;
    }

    private static Metric of(
            String name, String type, String help, ToLongFunction<? super LoopMetrics> value) {
        return new Metric(name, type, help, each -> value.applyAsLong(each.loop().metrics()));
    }

    String text() {
        StringBuilder out = new StringBuilder(8 << 10);
        for (Metric metric : METRICS) {
            head(out, metric.name, metric.type, metric.help);
            for (ServerLoop each : loops.all()) {
                sample(out, metric.name, each, "", metric.value.applyAsLong(each));
            }
        }
        head(out, "connections_closed_total", COUNTER, "Connections closed, by reason.");
        for (ServerLoop each : loops.all()) {
            for (CloseReason reason : CloseReason.values()) {
                String label = ",reason=\"" + reason.name().toLowerCase(Locale.ROOT) + '"';
                long closed = each.loop().metrics().streamsClosed(reason);
                sample(out, "connections_closed_total", each, label, closed);
            }
        }
        return out.toString();
    }

    private static void head(StringBuilder out, String name, String type, String help) {
        out.append("# HELP gyre_").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE gyre_").append(name).append(' ').append(type).append('\n');
    }

    private static void sample(
            StringBuilder out, String name, ServerLoop loop, String label, long value) {
        out.append("gyre_").append(name);
        out.append("{loop=\"").append(loop.loop().config().name()).append('"').append(label);
        out.append("} ").append(value).append('\n');
    }
}
