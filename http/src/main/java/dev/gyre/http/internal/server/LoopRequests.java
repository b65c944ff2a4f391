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
final class LoopRequests {
    /// The max number of series, with those of the route `_other`.
    static final int MAX_SERIES = 1_000;

    private static final String OVERFLOW_ROUTE = "_other";
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
    private static final int ACTIVE = OVERFLOWS + 1; // By origin.
    private static final int BEGUN = ACTIVE + 2 * METHODS.size(); // By origin: 1 if there was any.
    private static final int COUNTERS = BEGUN + 2 * METHODS.size() + 16;

    /// The requests with the same attributes.
    private static final class Series {
        static final int REQUEST_BYTES = 0;
        static final int RESPONSE_BYTES = 1;

        final @Nullable String route;
        final int origin;
        final int outcome;
        final HistogramRecorder durations = new HistogramRecorder();
        final AtomicLongArray bodyBytes = new AtomicLongArray(2);

        Series(@Nullable String route, int origin, int outcome) {
            this.route = route;
            this.origin = origin;
            this.outcome = outcome;
        }

        void record(long nanos, long requestBytes, long responseBytes) {
            durations.record(nanos);
            add(bodyBytes, REQUEST_BYTES, requestBytes);
            add(bodyBytes, RESPONSE_BYTES, responseBytes);
        }
    }

    /// The series of one route pattern. Few, so that a scan finds one.
    ///
    /// Loop thread only.
    static final class OfRoute {
        private final @Nullable String route;
        private Series[] series = {};

        private OfRoute(@Nullable String route) {
            this.route = route;
        }

        private @Nullable Series find(int origin, int outcome) {
            for (Series each : series) {
                if (each.origin == origin && each.outcome == outcome) {
                    return each;
                }
            }
            return null;
        }
    }

    private final EventLoop loop;

    // Loop thread only.
    private final Map<String, OfRoute> routes = new HashMap<>();
    private final OfRoute withoutRoute = new OfRoute(null);
    private final OfRoute overflow = new OfRoute(OVERFLOW_ROUTE);

    // Shared: written by the loop thread, read by any.
    private final AtomicLongArray counters = new AtomicLongArray(COUNTERS);
    private volatile Series[] published = {}; // Copied on write.

    LoopRequests(EventLoop loop) {
        this.loop = loop;
    }

    private static void add(AtomicLongArray counters, int index, long value) {
        // No locked instruction: there is one writer.
        counters.setOpaque(index, counters.getPlain(index) + value);
    }

    // ------------------------------------------------------------------ recording

    /// Counts a request whose head has arrived.
    ///
    /// @return the origin, for [#end]: method and scheme
    int begin(RequestHead head, boolean secure) {
        int origin = origin(head.knownMethod(), secure);
        add(counters, REQUESTS, 1);
        add(counters, ACTIVE + origin, 1);
        counters.setOpaque(BEGUN + origin, 1);
        return origin;
    }

    private static int origin(@Nullable String method, boolean secure) {
        int index = 0;
        while (index < OTHER_METHOD && !METHODS.get(index).equals(method)) {
            index++;
        }
        return 2 * index + (secure ? 1 : 0);
    }

    /// Records a request whose response is complete or lost.
    void end(Exchange exchange, int origin, long beganNanos) {
        add(counters, ACTIVE + origin, -1);
        ResponseState response = exchange.response;
        record(
                of(exchange.route),
                origin,
                2 * response.status() + (response.isTruncated() ? 1 : 0),
                loop.nanoTime() - beganNanos,
                exchange.receivedBytes(),
                response.bodyBytes());
    }

    /// Records a request that was rejected before routing.
    ///
    /// @param method `null` if unknown
    void rejected(@Nullable String method, boolean secure, int status, long responseBytes) {
        add(counters, REQUESTS, 1);
        record(withoutRoute, origin(method, secure), 2 * status, 0, 0, responseBytes);
    }

    private OfRoute of(@Nullable Route route) {
        if (route == null || route.entry == null) {
            return withoutRoute;
        }
        OfRoute known = route.metrics;
        if (known == null) {
            known = routes.computeIfAbsent(route.entry.text, OfRoute::new);
            route.metrics = known;
        }
        return known;
    }

    private void record(
            OfRoute route,
            int origin,
            int outcome,
            long nanos,
            long requestBytes,
            long responseBytes) {
        Series series = route.find(origin, outcome);
        if (series == null) {
            series = create(route, origin, outcome);
        }
        series.record(nanos, requestBytes, responseBytes);
    }

    private Series create(OfRoute route, int origin, int outcome) {
        if (published.length - overflow.series.length < MAX_SERIES - OVERFLOW_SERIES) {
            return add(route, origin, outcome);
        }
        add(counters, OVERFLOWS, 1);
        int otherOrigin = origin(null, false);
        int statusClass = outcome / 200 * 200;
        Series known = overflow.find(otherOrigin, statusClass);
        return known == null ? add(overflow, otherOrigin, statusClass) : known;
    }

    private Series add(OfRoute route, int origin, int outcome) {
        Series added = new Series(route.route, origin, outcome);
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

    private static String methodOf(int origin) {
        return METHODS.get(origin / 2);
    }

    private static String schemeOf(int origin) {
        return origin % 2 == 0 ? "http" : "https";
    }

    private static @Nullable String errorType(int outcome) {
        int status = outcome / 2;
        if (outcome % 2 != 0) {
            return "truncated";
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
                            schemeOf(each.origin),
                            methodOf(each.origin),
                            each.route,
                            each.outcome / 2,
                            errorType(each.outcome),
                            each.durations.snapshot(),
                            each.bodyBytes.getOpaque(Series.REQUEST_BYTES),
                            each.bodyBytes.getOpaque(Series.RESPONSE_BYTES)));
        }
    }

    void addActiveTo(List<HttpMetrics.Active> all) {
        for (int origin = 0; origin < 2 * METHODS.size(); origin++) {
            if (counters.getOpaque(BEGUN + origin) != 0) {
                all.add(
                        new HttpMetrics.Active(
                                loop.config().name(),
                                schemeOf(origin),
                                methodOf(origin),
                                counters.getOpaque(ACTIVE + origin)));
            }
        }
    }
}
