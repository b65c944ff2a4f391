package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The metrics of all loops. Each server records into the [LoopRequestMetrics] of its loop.
///
/// Any thread.
public final class RequestMetrics implements HttpMetrics {
    /// The attributes of a series.
    private record Key(
            String loop,
            String scheme,
            String method,
            @Nullable String route,
            int status,
            @Nullable String errorType) {
        static Key of(Series series) {
            return new Key(
                    series.loop(),
                    series.scheme(),
                    series.method(),
                    series.route(),
                    series.status(),
                    series.errorType());
        }
    }

    // Shared: guarded by the lock of this object.
    private final Map<EventLoop, LoopRequestMetrics> loops = new LinkedHashMap<>();

    /// The sums of loops that were replaced. Loops that replace each other have the same name, so
    /// the number of series is bounded. Totals must not decrease: Prometheus takes that for a
    /// restart.
    private final Map<Key, Series> retired = new LinkedHashMap<>();

    private long retiredOverflows;

    /// Returns the recorder of a loop. Folds terminated loops, which the new one may replace.
    synchronized LoopRequestMetrics on(EventLoop loop) {
        loops.entrySet().removeIf(each -> isTerminated(each.getKey()) && retire(each.getValue()));
        return loops.computeIfAbsent(loop, LoopRequestMetrics::new);
    }

    private static boolean isTerminated(EventLoop loop) {
        return loop.state() == LoopState.TERMINATED;
    }

    private boolean retire(LoopRequestMetrics loop) {
        List<Series> last = new ArrayList<>();
        loop.addSeriesTo(last);
        merge(last, retired);
        retiredOverflows += loop.overflows();
        return true;
    }

    private static void merge(Collection<Series> added, Map<Key, Series> sums) {
        added.forEach(each -> sums.merge(Key.of(each), each, RequestMetrics::plus));
    }

    private static Series plus(Series one, Series other) {
        return new Series(
                one.loop(),
                one.scheme(),
                one.method(),
                one.route(),
                one.status(),
                one.errorType(),
                one.duration().plus(other.duration()),
                one.rejected() + other.rejected(),
                one.requestBodyBytes() + other.requestBodyBytes(),
                one.responseBodyBytes() + other.responseBodyBytes());
    }

    /// Does nothing: the server records each exchange. See [LoopServer#use].
    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        return next.handle(request, response);
    }

    @Override
    public synchronized List<Series> series() {
        List<Series> all = new ArrayList<>();
        loops.values().forEach(each -> each.addSeriesTo(all));
        if (retired.isEmpty()) {
            return all;
        }
        Map<Key, Series> sums = new LinkedHashMap<>(retired);
        merge(all, sums);
        return new ArrayList<>(sums.values());
    }

    @Override
    public synchronized List<Active> active() {
        List<Active> all = new ArrayList<>();
        loops.forEach(
                (loop, each) -> {
                    if (!isTerminated(loop)) {
                        each.addActiveTo(all);
                    }
                });
        return all;
    }

    @Override
    public synchronized long requests(EventLoop loop) {
        LoopRequestMetrics known = loops.get(loop);
        return known == null ? 0 : known.requests();
    }

    @Override
    public synchronized long overflows() {
        return retiredOverflows
                + loops.values().stream().mapToLong(LoopRequestMetrics::overflows).sum();
    }
}
