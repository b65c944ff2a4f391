package dev.gyre.cli.serve;

import dev.gyre.LoopGroup;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import java.util.function.ToLongFunction;

/// An HTTP server with its counters. Those of a loop that failed are lost.
///
/// Any thread.
public final class WebServer {
    private final HttpServerGroup server;
    private final HttpMetrics metrics = HttpMetrics.create();

    public WebServer(LoopGroup group, HttpConfig config) {
        server = HttpServer.on(group, config).use(metrics);
    }

    public HttpServerGroup server() {
        return server;
    }

    public LoopGroup group() {
        return server.group();
    }

    public HttpMetrics metrics() {
        return metrics;
    }

    /// Returns the sum of a metric over all loops.
    public long sum(ToLongFunction<? super LoopMetrics> metric) {
        return group().loops().stream().mapToLong(loop -> metric.applyAsLong(loop.metrics())).sum();
    }

    /// Returns the number of connections closed for a reason.
    public long closed(CloseReason reason) {
        return sum(metrics -> metrics.streamsClosed(reason));
    }

    /// Returns the number of requests.
    public long requests() {
        return group().loops().stream().mapToLong(metrics::requests).sum();
    }
}
