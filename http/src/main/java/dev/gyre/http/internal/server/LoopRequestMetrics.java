package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.metrics.HistogramRecorder;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;

/// Records the requests of one loop, for [HttpMetrics].
///
/// One writer, the loop thread, with opaque stores. Any thread reads.
final class LoopRequestMetrics {
    /// The max number of series, with those of the route `_other`. All of them occupy 4 MB.
    static final int MAX_SERIES = 200;

    private static final int OVERFLOW_SERIES = 5; // One per status class.

    private static final List<String> METHODS =
            List.of(
                    "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "TRACE",
                    "_OTHER");
    private static final int OTHER_METHOD = METHODS.size() - 1;

    // Indexes of counters. The array starts and ends with unused cache lines: loops must not share
    // any per request.
    private static final int REQUESTS = 16;
    private static final int OVERFLOWS = REQUESTS + 1;
    private static final int ACTIVE = OVERFLOWS + 1; // By method and scheme.
    private static final int BEGUN = ACTIVE + 2 * METHODS.size(); // The same: 1 if there was any.
    private static final int COUNTERS = BEGUN + 2 * METHODS.size() + 16;

    /// The requests with the same attributes.
    ///
    /// `methodAndScheme` is twice the index in METHODS, plus one for `https`. `statusAndTruncated`
    /// is twice the status, plus one if the response was truncated.
    private static final class Series {
        static final int REQUEST_BYTES = 0;
        static final int RESPONSE_BYTES = 1;
        static final int REJECTED = 2;

        final @Nullable String route;
        final int methodAndScheme;
        final int statusAndTruncated;
        final HistogramRecorder durations = new HistogramRecorder();
        final AtomicLongArray sums = new AtomicLongArray(3);

        Series(@Nullable String route, int methodAndScheme, int statusAndTruncated) {
            this.route = route;
            this.methodAndScheme = methodAndScheme;
            this.statusAndTruncated = statusAndTruncated;
        }

        void addBytes(long requestBytes, long responseBytes) {
            add(sums, REQUEST_BYTES, requestBytes);
            add(sums, RESPONSE_BYTES, responseBytes);
        }
    }

    /// The series of one route pattern. Few, so that a scan finds one.
    ///
    /// Loop thread only.
    static final class RouteSeries {
        private final @Nullable String route;
        private Series[] series = {};

        private RouteSeries(@Nullable String route) {
            this.route = route;
        }

        private @Nullable Series find(int methodAndScheme, int statusAndTruncated) {
            for (Series each : series) {
                if (each.methodAndScheme == methodAndScheme
                        && each.statusAndTruncated == statusAndTruncated) {
                    return each;
                }
            }
            return null;
        }
    }

    private final EventLoop loop;

    // Loop thread only.
    private final Map<String, RouteSeries> routes = new HashMap<>();
    private final RouteSeries withoutRoute = new RouteSeries(null);
    private final RouteSeries overflow = new RouteSeries(HttpMetrics.Series.OVERFLOW_ROUTE);

    /// The requests that ended within the current read callback, whose responses wait for one
    /// write. They share the clock read at that write.
    private final Series[] batch = new Series[HttpConnection.MAX_REQUESTS_PER_CALLBACK];

    private int batchSize;
    private long batchBeganNanos;

    // Shared: written by the loop thread, read by any.
    private final AtomicLongArray counters = new AtomicLongArray(COUNTERS);
    private volatile Series[] published = {}; // Copied on write.

    LoopRequestMetrics(EventLoop loop) {
        this.loop = loop;
    }

    private static void add(AtomicLongArray counters, int index, long value) {
        // No locked instruction: there is one writer.
        counters.setOpaque(index, counters.getPlain(index) + value);
    }

    // ------------------------------------------------------------------ recording

    /// Counts a request whose head has arrived.
    ///
    /// @return method and scheme, for [#end]
    int begin(RequestHead head, boolean secure) {
        int methodAndScheme = methodAndScheme(head.knownMethod(), secure);
        add(counters, REQUESTS, 1);
        add(counters, ACTIVE + methodAndScheme, 1);
        counters.setOpaque(BEGUN + methodAndScheme, 1);
        return methodAndScheme;
    }

    private static int methodAndScheme(@Nullable String method, boolean secure) {
        int index = 0;
        while (index < OTHER_METHOD && !METHODS.get(index).equals(method)) {
            index++;
        }
        return 2 * index + (secure ? 1 : 0);
    }

    /// Records a request whose response is complete or lost.
    ///
    /// @param inBatch whether it ended within the read callback in which it began: [#endBatch()]
    ///     then records its duration
    void end(Exchange exchange, int methodAndScheme, long beganNanos, boolean inBatch) {
        add(counters, ACTIVE + methodAndScheme, -1);
        ResponseState response = exchange.response;
        int statusAndTruncated = 2 * response.status() + (response.isTruncated() ? 1 : 0);
        Series series = series(of(exchange.route), methodAndScheme, statusAndTruncated);
        series.addBytes(exchange.receivedBytes(), response.bodyBytes());
        if (!inBatch) {
            series.durations.record(loop.nanoTime() - beganNanos);
            return;
        }
        if (batchSize == batch.length || beganNanos != batchBeganNanos) {
            endBatch();
        }
        batchBeganNanos = beganNanos;
        batch[batchSize++] = series;
    }

    /// Records the durations of a batch. Called before its responses are written.
    void endBatch() {
        if (batchSize > 0) {
            long nanos = loop.nanoTime() - batchBeganNanos;
            for (int i = 0; i < batchSize; i++) {
                batch[i].durations.record(nanos);
            }
            batchSize = 0;
        }
    }

    /// Counts a request that was rejected before routing. It has no duration.
    ///
    /// @param method `null` if unknown
    void rejected(@Nullable String method, boolean secure, int status, long responseBytes) {
        add(counters, REQUESTS, 1);
        Series series = series(withoutRoute, methodAndScheme(method, secure), 2 * status);
        series.addBytes(0, responseBytes);
        add(series.sums, Series.REJECTED, 1);
    }

    private RouteSeries of(@Nullable Route route) {
        if (route == null || route.entry == null) {
            return withoutRoute;
        }
        RouteSeries known = route.metrics;
        if (known == null) {
            known = routes.computeIfAbsent(route.entry.text, RouteSeries::new);
            route.metrics = known;
        }
        return known;
    }

    private Series series(RouteSeries route, int methodAndScheme, int statusAndTruncated) {
        Series known = route.find(methodAndScheme, statusAndTruncated);
        return known == null ? create(route, methodAndScheme, statusAndTruncated) : known;
    }

    private Series create(RouteSeries route, int methodAndScheme, int statusAndTruncated) {
        if (published.length - overflow.series.length < MAX_SERIES - OVERFLOW_SERIES) {
            return add(route, methodAndScheme, statusAndTruncated);
        }
        add(counters, OVERFLOWS, 1);
        int other = methodAndScheme(null, false);
        int statusClass = statusAndTruncated / 200 * 200;
        Series known = overflow.find(other, statusClass);
        return known == null ? add(overflow, other, statusClass) : known;
    }

    private Series add(RouteSeries route, int methodAndScheme, int statusAndTruncated) {
        Series added = new Series(route.route, methodAndScheme, statusAndTruncated);
        route.series = append(route.series, added);
        published = append(published, added);
        return added;
    }

    private static Series[] append(Series[] all, Series added) {
        Series[] copy = Arrays.copyOf(all, all.length + 1);
        copy[all.length] = added;
        return copy;
    }

    // ------------------------------------------------------------------ reading

    long requests() {
        return counters.getOpaque(REQUESTS);
    }

    long overflows() {
        return counters.getOpaque(OVERFLOWS);
    }

    private static String methodOf(int methodAndScheme) {
        return METHODS.get(methodAndScheme / 2);
    }

    private static String schemeOf(int methodAndScheme) {
        return methodAndScheme % 2 == 0 ? "http" : "https";
    }

    private static @Nullable String errorType(Series series) {
        int status = series.statusAndTruncated / 2;
        if (series.statusAndTruncated % 2 != 0) {
            return "truncated";
        }
        if (HttpMetrics.Series.OVERFLOW_ROUTE.equals(series.route)) {
            return status >= 500 ? "5xx" : null;
        }
        return status == Status.CLIENT_CLOSED_REQUEST
                ? "disconnected"
                : status >= 500 ? Integer.toString(status) : null;
    }

    void addSeriesTo(List<HttpMetrics.Series> all) {
        for (Series each : published) {
            all.add(
                    new HttpMetrics.Series(
                            loop.config().name(),
                            schemeOf(each.methodAndScheme),
                            methodOf(each.methodAndScheme),
                            each.route,
                            each.statusAndTruncated / 2,
                            errorType(each),
                            each.durations.snapshot(),
                            each.sums.getOpaque(Series.REJECTED),
                            each.sums.getOpaque(Series.REQUEST_BYTES),
                            each.sums.getOpaque(Series.RESPONSE_BYTES)));
        }
    }

    void addActiveTo(List<HttpMetrics.Active> all) {
        for (int methodAndScheme = 0; methodAndScheme < 2 * METHODS.size(); methodAndScheme++) {
            if (counters.getOpaque(BEGUN + methodAndScheme) != 0) {
                all.add(
                        new HttpMetrics.Active(
                                loop.config().name(),
                                schemeOf(methodAndScheme),
                                methodOf(methodAndScheme),
                                counters.getOpaque(ACTIVE + methodAndScheme)));
            }
        }
    }
}
