package dev.gyre.http;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

/// An event for [EventStream#send(ServerSentEvent)]. Immutable.
///
/// ```java
/// events.send(ServerSentEvent.of(price).withType("price").withId(sequence));
/// ```
///
/// @param data the payload, of any number of lines
/// @param type the name that browsers dispatch it by; `null` for `message`
/// @param id the value of `Last-Event-ID` when the client reconnects; `null` to keep the last one
/// @param retry how long the client waits before it reconnects; `null` to keep its setting
public record ServerSentEvent(
        String data, @Nullable String type, @Nullable String id, @Nullable Duration retry) {
    /// Checks the values.
    ///
    /// @throws IllegalArgumentException if type or id have several lines, or `retry` is negative
    public ServerSentEvent {
        Objects.requireNonNull(data, "data");
        requireLine("type", type);
        requireLine("id", id);
        if (retry != null) {
            Limits.zeroOrMore("retry", retry);
        }
    }

    private static void requireLine(String what, @Nullable String text) {
        if (text != null && text.chars().anyMatch(c -> c == '\n' || c == '\r' || c == 0)) {
            throw new IllegalArgumentException(
                    "the "
                            + what
                            + " of an event must be a single line, but has a line break: encode"
                            + " it");
        }
    }

    /// Returns an event with data only.
    public static ServerSentEvent of(String data) {
        return new ServerSentEvent(data, null, null, null);
    }

    /// Returns a copy with a type.
    public ServerSentEvent withType(String type) {
        return new ServerSentEvent(data, Objects.requireNonNull(type, "type"), id, retry);
    }

    /// Returns a copy with an id.
    public ServerSentEvent withId(String id) {
        return new ServerSentEvent(data, type, Objects.requireNonNull(id, "id"), retry);
    }

    /// Returns a copy with a time to wait before reconnecting, in milliseconds on the wire.
    public ServerSentEvent withRetry(Duration retry) {
        return new ServerSentEvent(data, type, id, Objects.requireNonNull(retry, "retry"));
    }
}
