package dev.gyre.http.internal.server;

import dev.gyre.http.internal.message.ParseError;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// Reports the begin and the end of an exchange to the metrics and the trace.
///
/// Loop thread only.
final class ExchangeEvents {
    /// Bounds the memory of a trace.
    private static final int MAX_PATH_CHARS = 200;

    private final Exchange exchange;
    private final ServerContext context;

    // Loop thread only.
    private int methodAndScheme;
    private long beganNanos;

    ExchangeEvents(Exchange exchange) {
        this.exchange = exchange;
        context = exchange.context;
    }

    /// Called when the head has arrived.
    void begin(Stream stream) {
        LoopRequestMetrics metrics = context.metrics;
        beganNanos = context.loop.nowNanos();
        if (metrics != null) {
            methodAndScheme = metrics.begin(exchange.head, stream.tls() != null);
        }
    }

    /// Called when the route is known.
    void routed(Route route, @Nullable HttpConnection connection) {
        if (connection == null) {
            return;
        }
        Stream stream = connection.stream();
        String pattern = route.entry == null ? null : route.entry.text;
        stream.traceRoute(pattern == null ? "" : pattern);
        if (stream.isTraced()) {
            String found = pattern == null ? "no route" : "route " + pattern;
            stream.trace(
                    () ->
                            "request %s %s, %s"
                                    .formatted(
                                            exchange.head.method(),
                                            shortened(exchange.head.rawPath()),
                                            found));
        }
    }

    private static String shortened(String path) {
        return path.length() <= MAX_PATH_CHARS
                ? path
                : path.substring(0, MAX_PATH_CHARS) + "\u2026";
    }

    /// Called once, when the response is complete or lost.
    void end(@Nullable HttpConnection connection) {
        LoopRequestMetrics metrics = context.metrics;
        if (metrics != null) {
            boolean inBatch = connection != null && connection.serving;
            metrics.end(exchange, methodAndScheme, beganNanos, inBatch);
        }
        if (connection != null && connection.stream().isTraced()) {
            connection.stream().trace(this::describeEnd);
        }
    }

    private String describeEnd() {
        ResponseState response = exchange.response;
        long micros = (context.loop.nanoTime() - beganNanos) / 1_000;
        return "response %d, %d bytes, after %d µs%s"
                .formatted(
                        response.status(),
                        response.bodyBytes(),
                        micros,
                        response.isTruncated() ? ", truncated" : "");
    }

    /// Called when input was rejected before routing.
    static void rejected(Stream stream, ParseError reason) {
        if (stream.isTraced()) {
            stream.trace(() -> "rejected with %d: %s".formatted(reason.status(), reason.reason()));
        }
    }
}
