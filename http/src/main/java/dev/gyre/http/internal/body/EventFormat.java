package dev.gyre.http.internal.body;

import dev.gyre.http.ServerSentEvent;
import dev.gyre.http.internal.message.Durations;

import java.time.Duration;

/// Writes server-sent events as `text/event-stream`.
public final class EventFormat {
    /// A comment, which clients ignore.
    public static final String COMMENT = ":\n\n";

    private EventFormat() {}

    /// Returns an event as text.
    public static String format(ServerSentEvent event) {
        String data = event.data();
        StringBuilder text = new StringBuilder(data.length() + 32);
        if (event.type() != null) {
            text.append("event: ").append(event.type()).append('\n');
        }
        if (event.id() != null) {
            text.append("id: ").append(event.id()).append('\n');
        }
        Duration retry = event.retry();
        if (retry != null) {
            text.append("retry: ").append(retry.toMillis()).append('\n');
        }
        // All three kinds of line ends are the same to clients.
        for (String line : data.split("\r\n|\r|\n", -1)) {
            text.append("data: ").append(line).append('\n');
        }
        return text.append('\n').toString();
    }

    /// Returns a block that only sets the time before clients reconnect.
    ///
    /// @throws IllegalArgumentException if the time is negative
    public static String retry(Duration time) {
        return "retry: " + Durations.requireNotNegative("retry", time).toMillis() + "\n\n";
    }
}
