package dev.gyre.micrometer;

import dev.gyre.http.HttpMetrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/// The meters of HTTP. Registries read them one by one, so all of them read one copy of the series,
/// which is at most a second old.
///
/// Any thread.
final class HttpMeters {
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// The sums of all loops for one combination of attributes.
    private record Totals(
            long timed, long nanos, long rejected, long requestBytes, long responseBytes) {
        static final Totals NONE = new Totals(0, 0, 0, 0, 0);

        Totals plus(HttpMetrics.Series series) {
            return new Totals(
                    timed + series.duration().count(),
                    nanos + series.duration().sum().toNanos(),
                    rejected + series.rejected(),
                    requestBytes + series.requestBodyBytes(),
                    responseBytes + series.responseBodyBytes());
        }
    }

    private record Copy(long atNanos, Map<Tags, Totals> series, Map<Tags, Long> active) {}

    private final HttpMetrics metrics;

    // Shared: guarded by the lock of this object.
    private Copy copy;
    private final Set<Tags> registeredSeries = new HashSet<>();
    private final Set<Tags> registeredActive = new HashSet<>();

    HttpMeters(HttpMetrics metrics) {
        this.metrics = metrics;
        copy = copy();
    }

    /// Registers meters for combinations of attributes that are new.
    synchronized void register(MeterRegistry registry) {
        copy = copy();
        for (Tags tags : copy.series.keySet()) {
            if (registeredSeries.add(tags)) {
                FunctionTimer _ =
                        FunctionTimer.builder(
                                        "http.server.request.duration",
                                        this,
                                        meters -> meters.totals(tags).timed,
                                        meters -> meters.totals(tags).nanos,
                                        TimeUnit.NANOSECONDS)
                                .tags(tags)
                                .register(registry);
                String bytes = "bytes";
                counter(
                        registry,
                        "http.server.request.body.size",
                        tags,
                        bytes,
                        t -> t.requestBytes);
                counter(
                        registry,
                        "http.server.response.body.size",
                        tags,
                        bytes,
                        t -> t.responseBytes);
                counter(registry, "gyre.http.requests.rejected", tags, null, t -> t.rejected);
            }
        }
        for (Tags tags : copy.active.keySet()) {
            if (registeredActive.add(tags)) {
                Gauge _ =
                        Gauge.builder(
                                        "http.server.active_requests",
                                        this,
                                        meters -> meters.active(tags))
                                .tags(tags)
                                .strongReference(true)
                                .register(registry);
            }
        }
    }

    private void counter(
            MeterRegistry registry,
            String name,
            Tags tags,
            @Nullable String unit,
            ToDoubleFunction<Totals> value) {
        FunctionCounter _ =
                FunctionCounter.builder(
                                name, this, meters -> value.applyAsDouble(meters.totals(tags)))
                        .tags(tags)
                        .baseUnit(unit)
                        .register(registry);
    }

    private Totals totals(Tags tags) {
        return current().series.getOrDefault(tags, Totals.NONE);
    }

    private double active(Tags tags) {
        return current().active.getOrDefault(tags, 0L);
    }

    private synchronized Copy current() {
        if (System.nanoTime() - copy.atNanos > MAX_AGE_NANOS) {
            copy = copy();
        }
        return copy;
    }

    private Copy copy() {
        Map<Tags, Totals> series = new HashMap<>();
        for (HttpMetrics.Series each : metrics.series()) {
            Tags tags =
                    Tags.of("http.request.method", each.method())
                            .and("http.route", Objects.requireNonNullElse(each.route(), "none"))
                            .and("http.response.status_code", each.statusText())
                            .and("url.scheme", each.scheme())
                            .and(
                                    "error.type",
                                    Objects.requireNonNullElse(each.errorType(), "none"));
            series.put(tags, series.getOrDefault(tags, Totals.NONE).plus(each));
        }
        Map<Tags, Long> active = new HashMap<>();
        for (HttpMetrics.Active each : metrics.active()) {
            Tags tags = Tags.of("http.request.method", each.method(), "url.scheme", each.scheme());
            active.merge(tags, each.requests(), Long::sum);
        }
        return new Copy(System.nanoTime(), series, active);
    }
}
