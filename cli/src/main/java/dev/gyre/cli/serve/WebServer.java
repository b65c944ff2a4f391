package dev.gyre.cli.serve;

import dev.gyre.LoopGroup;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.io.CloseReason;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.util.function.ToLongFunction;

/// An HTTP server with its counters. Those of a loop that failed are lost.
///
/// Any thread.
public final class WebServer {
    private final HttpServerGroup server;
    private final HttpMetrics metrics = HttpMetrics.create();

    // Shared: set once, by the thread that starts the server.
    private volatile @Nullable String dashboard;

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

    /// Sets the URL of the dashboard, which the demo links.
    public void setDashboard(String url) {
        dashboard = url;
    }

    @Nullable String dashboard() {
        return dashboard;
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
