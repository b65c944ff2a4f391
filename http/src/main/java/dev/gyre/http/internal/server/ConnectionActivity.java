package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

/// Describes for operators what a connection is doing. Contains patterns, and nothing that the
/// client sent.
///
/// Any thread: reads of another thread may be out of date.
final class ConnectionActivity {
    private ConnectionActivity() {}

    /// @param open the exchange whose handler has returned; `null` if absent
    static String describe(HttpConnection connection, @Nullable Exchange open) {
        Exchange exchange = open == null ? connection.context.served(connection) : open;
        return switch (connection.state()) {
            case IDLE -> "idle";
            case READING_HEAD -> "reading a request head";
            case HANDLING -> request(exchange) + ", handling";
            case FAILING -> request(exchange) + ", responding with an error";
            case RESPONDING -> request(exchange) + ", responding";
            case RESPONDED -> request(exchange) + ", dropping the rest of its body";
            case UPGRADED -> request(exchange) + ", upgraded";
            case CLOSING, CLOSED -> "closing";
        };
    }

    /// Returns method and pattern: `GET /users/{id}`.
    private static String request(@Nullable Exchange exchange) {
        if (exchange == null) {
            return "HTTP request";
        }
        String method = exchange.head.knownMethod();
        Route route = exchange.route;
        return (method == null ? "_OTHER" : method)
                + (route == null || route.entry == null
                        ? " without a route"
                        : " " + route.entry.text);
    }
}
