package dev.gyre.http.internal.admin;

import static dev.gyre.http.internal.admin.AdminSources.seconds;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpMetrics;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.Histogram;
import dev.gyre.metrics.LoopMetrics;
import dev.gyre.metrics.RunningCallback;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The figures of loops for `GET /loops`. Counters are totals. Distributions cover the last ten
/// seconds or more while clients poll; by default, the time since the loop was opened.
///
/// Loop thread of the admin address only. It does not wait for the watched loops.
final class LoopFigures {
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);

    /// The min time between two samples, however many clients ask.
    private static final long SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// Older samples are discarded.
    private static final long MAX_AGE_NANOS = 3 * WINDOW_NANOS;

    /// A loop that runs one callback for longer does not respond.
    static final Duration RESPONSE_LIMIT = Duration.ofSeconds(1);

    /// The distributions of a loop at one instant.
    private record Sample(long atNanos, Map<String, Histogram> histograms) {
        static Sample of(LoopMetrics metrics, long now) {
            Map<String, Histogram> all = new LinkedHashMap<>();
            all.put("taskDelay", metrics.taskDelay());
            all.put("tickDuration", metrics.tickDuration());
            all.put("readyDelay", metrics.readyDelay());
            all.put("timerLateness", metrics.timerLateness());
            for (CallbackKind kind : CallbackKind.values()) {
                all.put(nameOf(kind), metrics.callbackDuration(kind));
            }
            return new Sample(now, all);
        }
    }

    private final AdminSources sources;
    private final EventLoop admin;
    private final @Nullable Instant processStart;

    // Loop thread only.
    private final Map<EventLoop, Deque<Sample>> samples = new HashMap<>();

    LoopFigures(AdminSources sources, EventLoop admin) {
        this.sources = sources;
        this.admin = admin;
        processStart = ProcessHandle.current().info().startInstant().orElse(null);
    }

    /// Returns the response as a JSON value.
    Map<String, @Nullable Object> all() {
        List<EventLoop> loops = sources.loops().get();
        samples.keySet().retainAll(loops);
        List<Object> figures = new ArrayList<>();
        loops.forEach(loop -> figures.add(of(loop)));
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        Instant now = Instant.now();
        json.put("time", now);
        json.put("pid", ProcessHandle.current().pid());
        json.put("version", version());
        json.put(
                "uptimeSeconds",
                processStart == null ? null : seconds(Duration.between(processStart, now)));
        json.put("loops", figures);
        return json;
    }

    /// Reads the version that the build stamps into the module descriptor, which is absent on a
    /// class path.
    private static @Nullable String version() {
        return Optional.ofNullable(LoopFigures.class.getModule().getDescriptor())
                .flatMap(descriptor -> descriptor.rawVersion())
                .orElse(null);
    }

    private Map<String, @Nullable Object> of(EventLoop loop) {
        LoopMetrics metrics = loop.metrics();
        RunningCallback running = metrics.running().orElse(null);
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("name", loop.config().name());
        json.put("backend", metrics.backend());
        json.put("state", loop.state());
        json.put("responding", isResponding(running));
        json.put("utilization", metrics.utilization());
        json.put("activeSeconds", seconds(metrics.activeTime()));
        json.put("idleSeconds", seconds(metrics.idleTime()));
        json.put("ticks", metrics.ticks());
        json.put("callbacks", metrics.callbacks());
        putDistributions(json, loop);
        json.put("queuedTasks", metrics.queuedTasks());
        json.put("tasksRejected", metrics.tasksRejected());
        json.put("connections", metrics.streams());
        json.put("connectionsOpened", metrics.streamsOpened());
        json.put("closed", closed(metrics));
        json.put("refused", metrics.connectionsRefused());
        json.put("shed", metrics.connectionsShed());
        json.put("exhaustions", metrics.exhaustions());
        HttpMetrics http = sources.metrics();
        json.put("requests", http == null ? null : http.requests(loop));
        json.put("bufferBytes", metrics.bufferMemory());
        json.put("bufferLimit", metrics.bufferMemoryLimit());
        json.put("unhandledRejections", metrics.unhandledRejections());
        json.put("failures", metrics.failures());
        json.put("running", running == null ? null : of(running));
        return json;
    }

    static boolean isResponding(@Nullable RunningCallback running) {
        return running == null || running.elapsed().compareTo(RESPONSE_LIMIT) < 0;
    }

    private static Map<String, Object> of(RunningCallback running) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", nameOf(running.kind()));
        json.put("description", running.description());
        json.put("seconds", seconds(running.elapsed()));
        return json;
    }

    private static Map<String, Long> closed(LoopMetrics metrics) {
        Map<String, Long> closed = new LinkedHashMap<>();
        for (CloseReason reason : CloseReason.values()) {
            long count = metrics.streamsClosed(reason);
            if (count > 0) {
                closed.put(reason.name(), count);
            }
        }
        return closed;
    }

    static String nameOf(CallbackKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    // ------------------------------------------------------------------ distributions

    private void putDistributions(Map<String, @Nullable Object> json, EventLoop loop) {
        Sample now = Sample.of(loop.metrics(), admin.nanoTime());
        Sample base = base(samples.computeIfAbsent(loop, _ -> new ArrayDeque<>()), now);
        Map<String, Object> callbacks = new LinkedHashMap<>();
        now.histograms.forEach(
                (name, total) -> {
                    Histogram earlier = base == null ? null : base.histograms.get(name);
                    Object figures = of(earlier == null ? total : total.minus(earlier));
                    (isKind(name) ? callbacks : json).put(name, figures);
                });
        json.put("windowSeconds", base == null ? null : (now.atNanos - base.atNanos) / 1e9);
        json.put("callbackDuration", callbacks);
    }

    private static boolean isKind(String name) {
        for (CallbackKind kind : CallbackKind.values()) {
            if (nameOf(kind).equals(name)) {
                return true;
            }
        }
        return false;
    }

    /// Returns the sample that a window begins with, and keeps the current one; `null` if there is
    /// no recent one.
    private static @Nullable Sample base(Deque<Sample> known, Sample now) {
        while (!known.isEmpty() && now.atNanos - known.getFirst().atNanos > MAX_AGE_NANOS) {
            known.removeFirst();
        }
        Sample base = known.peekFirst();
        while (known.size() > 1 && now.atNanos - base.atNanos > WINDOW_NANOS) {
            Sample next = known.stream().skip(1).findFirst().orElseThrow();
            if (now.atNanos - next.atNanos < WINDOW_NANOS) {
                break;
            }
            known.removeFirst();
            base = next;
        }
        if (known.isEmpty() || now.atNanos - known.getLast().atNanos >= SAMPLE_NANOS) {
            known.addLast(now);
        }
        return base;
    }

    private static Map<String, Object> of(Histogram values) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("p50", seconds(values.percentile(50)));
        json.put("p99", seconds(values.percentile(99)));
        json.put("max", seconds(values.max()));
        return json;
    }
}
