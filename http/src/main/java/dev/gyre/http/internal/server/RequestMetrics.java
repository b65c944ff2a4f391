package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// The metrics of all loops. Each server records into the [LoopRequests] of its loop.
///
/// Any thread.
public final class RequestMetrics implements HttpMetrics {
    // Shared: written by loops, read by any thread.
    private final Map<EventLoop, LoopRequests> loops = new ConcurrentHashMap<>();

    /// Returns the recorder of a loop. Forgets terminated loops: the new one may replace one.
    LoopRequests on(EventLoop loop) {
        loops.keySet().removeIf(each -> each.state() == LoopState.TERMINATED);
        return loops.computeIfAbsent(loop, LoopRequests::new);
    }

    /// Does nothing: the server records each exchange. See [LoopServer#use].
    @Override
    public Promise<?> handle(Request request, Response response, Handler next) throws Exception {
        return next.handle(request, response);
    }

    @Override
    public List<Series> series() {
        List<Series> all = new ArrayList<>();
        loops.values().forEach(each -> each.addSeriesTo(all));
        return all;
    }

    @Override
    public List<Active> active() {
        List<Active> all = new ArrayList<>();
        loops.values().forEach(each -> each.addActiveTo(all));
        return all;
    }

    @Override
    public long requests(EventLoop loop) {
        LoopRequests known = loops.get(loop);
        return known == null ? 0 : known.requests();
    }

    @Override
    public long overflows() {
        return loops.values().stream().mapToLong(LoopRequests::overflows).sum();
    }
}
