package dev.gyre.micrometer;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.Histogram;
import dev.gyre.metrics.LoopMetrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/// Registers the metrics of loops, and of their HTTP servers, with Micrometer.
///
/// ```java
/// var metrics = GyreMetrics.of(group).with(http);   // an HttpMetrics that the server uses
/// metrics.bindTo(registry);
/// …
/// metrics.close();
/// ```
///
/// Meters of loops have the tag `loop`. A loop that replaces a failed one continues the meters of
/// its name. Distributions of durations are timers with a count and a sum, and gauges named `.max`
/// and `.p99` for all values since the loop was opened.
///
/// Meters of HTTP are sums over all loops, with the names and attributes of OpenTelemetry's stable
/// conventions. `http.route` and `error.type` are `none` if absent, because registries such as that
/// of Prometheus require the same tags for all meters of a name. A virtual thread registers new
/// combinations every five seconds, until [#close()].
///
/// **Threads.** Any. Reading the meters does not slow the loops down.
public final class GyreMetrics implements MeterBinder, AutoCloseable {
    private static final Duration REFRESH = Duration.ofSeconds(5);

    private static final Map<String, Function<LoopMetrics, Histogram>> TIMERS =
            Map.of(
                    "gyre.loop.tick.duration", LoopMetrics::tickDuration,
                    "gyre.loop.poll.wait", LoopMetrics::pollWait,
                    "gyre.loop.task.delay", LoopMetrics::taskDelay,
                    "gyre.loop.ready.delay", LoopMetrics::readyDelay,
                    "gyre.loop.timer.lateness", LoopMetrics::timerLateness);

    private static final Map<String, ToDoubleFunction<LoopMetrics>> GAUGES =
            Map.of(
                    "gyre.loop.utilization", LoopMetrics::utilization,
                    "gyre.loop.queued.tasks", LoopMetrics::queuedTasks,
                    "gyre.loop.promises", LoopMetrics::promises,
                    "gyre.loop.operations", LoopMetrics::operations,
                    "gyre.connections", LoopMetrics::streams);

    private static final Map<String, ToDoubleFunction<LoopMetrics>> COUNTERS =
            Map.of(
                    "gyre.loop.ticks", LoopMetrics::ticks,
                    "gyre.loop.callbacks", LoopMetrics::callbacks,
                    "gyre.loop.tasks.rejected", LoopMetrics::tasksRejected,
                    "gyre.loop.failures", LoopMetrics::failures,
                    "gyre.loop.unhandled.rejections", LoopMetrics::unhandledRejections,
                    "gyre.connections.opened", LoopMetrics::streamsOpened,
                    "gyre.connections.refused", LoopMetrics::connectionsRefused,
                    "gyre.connections.shed", LoopMetrics::connectionsShed,
                    "gyre.exhaustions", LoopMetrics::exhaustions);

    private final Supplier<List<EventLoop>> loops;
    private final @Nullable HttpMeters http;

    // Shared: guarded by the lock of this object.
    private @Nullable Thread refresher;
    private boolean closed;

    private GyreMetrics(Supplier<List<EventLoop>> loops, @Nullable HttpMeters http) {
        this.loops = loops;
        this.http = http;
    }

    /// Returns the metrics of all loops of a group.
    public static GyreMetrics of(LoopGroup group) {
        return new GyreMetrics(Objects.requireNonNull(group, "group")::loops, null);
    }

    /// Returns the metrics of one loop.
    public static GyreMetrics of(EventLoop loop) {
        List<EventLoop> only = List.of(loop);
        return new GyreMetrics(() -> only, null);
    }

    /// Returns a copy that has the metrics of HTTP too.
    public GyreMetrics with(HttpMetrics metrics) {
        return new GyreMetrics(loops, new HttpMeters(Objects.requireNonNull(metrics, "metrics")));
    }

    /// Registers all meters. Call it once per registry.
    ///
    /// @throws IllegalStateException if it has the metrics of HTTP, and was called or closed before
    @Override
    public void bindTo(MeterRegistry registry) {
        HttpMeters meters = http;
        if (meters != null) {
            start(meters, registry);
        }
        for (EventLoop loop : loops.get()) {
            new LoopMeters(loops, loop.config().name(), registry).register();
        }
    }

    private synchronized void start(HttpMeters meters, MeterRegistry registry) {
        if (closed || refresher != null) {
            throw new IllegalStateException(
                    "bindTo was called or closed before: use another GyreMetrics");
        }
        meters.register(registry);
        refresher =
                Thread.ofVirtual()
                        .name("gyre-micrometer")
                        .start(
                                () -> {
                                    try {
                                        while (true) {
                                            Thread.sleep(REFRESH);
                                            meters.register(registry);
                                        }
                                    } catch (InterruptedException e) {
                                        // close() was called.
                                    }
                                });
    }

    /// Ends the registration of new combinations of HTTP attributes. Registered meters remain.
    @Override
    public synchronized void close() {
        closed = true;
        if (refresher != null) {
            refresher.interrupt();
        }
    }

    // ------------------------------------------------------------------ loops

    /// Registers the meters of the loop with one name. The gauges hold it strongly, and thereby
    /// keep the other meters alive.
    private record LoopMeters(
            Supplier<List<EventLoop>> loops, String name, MeterRegistry registry) {
        void register() {
            Tags tags = Tags.of("loop", name);
            GAUGES.forEach((meter, read) -> gauge(meter, tags, null, read));
            gauge("gyre.loop.buffer.memory", tags, "bytes", LoopMetrics::bufferMemory);
            gauge("gyre.loop.buffer.limit", tags, "bytes", LoopMetrics::bufferMemoryLimit);
            COUNTERS.forEach((meter, read) -> counter(meter, tags, null, read));
            counter("gyre.loop.active", tags, "seconds", each -> seconds(each.activeTime()));
            counter("gyre.loop.idle", tags, "seconds", each -> seconds(each.idleTime()));
            TIMERS.forEach((meter, read) -> timer(meter, tags, read));
            for (CallbackKind kind : CallbackKind.values()) {
                timer(
                        "gyre.loop.callback.duration",
                        tags.and("kind", lowerCase(kind)),
                        each -> each.callbackDuration(kind));
            }
            for (CloseReason reason : CloseReason.values()) {
                counter(
                        "gyre.connections.closed",
                        tags.and("reason", lowerCase(reason)),
                        null,
                        each -> each.streamsClosed(reason));
            }
        }

        private static String lowerCase(Enum<?> constant) {
            return constant.name().toLowerCase(Locale.ROOT);
        }

        private static double seconds(Duration duration) {
            return duration.toNanos() / 1e9;
        }

        /// Reads from the current loop with this name.
        private double read(ToDoubleFunction<LoopMetrics> value) {
            for (EventLoop loop : loops.get()) {
                if (loop.config().name().equals(name)) {
                    return value.applyAsDouble(loop.metrics());
                }
            }
            return Double.NaN;
        }

        private void gauge(
                String meter,
                Tags tags,
                @Nullable String unit,
                ToDoubleFunction<LoopMetrics> value) {
            Gauge _ =
                    Gauge.builder(meter, this, loop -> loop.read(value))
                            .tags(tags)
                            .baseUnit(unit)
                            .strongReference(true)
                            .register(registry);
        }

        private void counter(
                String meter,
                Tags tags,
                @Nullable String unit,
                ToDoubleFunction<LoopMetrics> value) {
            FunctionCounter _ =
                    FunctionCounter.builder(meter, this, loop -> loop.read(value))
                            .tags(tags)
                            .baseUnit(unit)
                            .register(registry);
        }

        private void timer(String meter, Tags tags, Function<LoopMetrics, Histogram> histogram) {
            FunctionTimer _ =
                    FunctionTimer.builder(
                                    meter,
                                    this,
                                    loop -> (long) loop.read(each -> histogram.apply(each).count()),
                                    loop -> loop.read(each -> nanos(histogram.apply(each).sum())),
                                    TimeUnit.NANOSECONDS)
                            .tags(tags)
                            .register(registry);
            nanosGauge(meter + ".max", tags, each -> nanos(histogram.apply(each).max()));
            nanosGauge(meter + ".p99", tags, each -> histogram.apply(each).percentileNanos(99));
        }

        private static double nanos(Duration duration) {
            return duration.toNanos();
        }

        private void nanosGauge(String meter, Tags tags, ToDoubleFunction<LoopMetrics> value) {
            TimeGauge _ =
                    TimeGauge.builder(meter, this, TimeUnit.NANOSECONDS, loop -> loop.read(value))
                            .tags(tags)
                            .strongReference(true)
                            .register(registry);
        }
    }
}
