package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.PerLoop;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.ToLongFunction;

/// An HTTP server with its counters. Those of a loop that failed are lost.
///
/// Any thread.
public final class WebServer {
    /// The index of a counter with cache lines of its own: loops must not share any per request.
    private static final int COUNTER = 16;

    private final HttpServerGroup server;

    // Shared: written by the thread of each loop, read by any.
    private final PerLoop<AtomicLongArray> requests;

    public WebServer(LoopGroup group, HttpConfig config) {
        server = HttpServer.on(group, config);
        requests = group.perLoop(_ -> new AtomicLongArray(2 * COUNTER));
        server.use(
                (request, response, next) -> {
                    // No locked instruction: the loop thread is the only writer.
                    AtomicLongArray own = requests.get(request.loop());
                    own.setOpaque(COUNTER, own.getPlain(COUNTER) + 1);
                    return next.handle(request, response);
                });
    }

    public HttpServerGroup server() {
        return server;
    }

    public LoopGroup group() {
        return server.group();
    }

    /// Returns the sum of a metric over all loops.
    public long sum(ToLongFunction<? super LoopMetrics> metric) {
        return sumOfLoops(loop -> metric.applyAsLong(loop.metrics()));
    }

    private long sumOfLoops(ToLongFunction<? super EventLoop> value) {
        return group().loops().stream().mapToLong(value).sum();
    }

    /// Returns the number of connections closed for a reason.
    public long closed(CloseReason reason) {
        return sum(metrics -> metrics.streamsClosed(reason));
    }

    /// Returns the number of requests.
    public long requests() {
        return sumOfLoops(this::requests);
    }

    /// Returns the number of requests of a loop; zero if the loop was just replaced.
    long requests(EventLoop loop) {
        try {
            return requests.get(loop).getOpaque(COUNTER);
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }
}
