package dev.gyre.metrics;

import java.time.Instant;
import java.util.List;

/// An event that a [Trace] has recorded.
///
/// @param time when it happened, as precise as the loop's cached clock
/// @param loop the name of the loop
/// @param connection the id of the connection ([dev.gyre.io.Stream#id()]); 0 for events of the loop
/// @param kind what happened
/// @param detail more about it, for operators
public record TraceEvent(Instant time, String loop, long connection, Kind kind, String detail) {
    /// Names what happened.
    public enum Kind {
        /// The connection was accepted or established.
        OPENED,

        /// The connection was closed, for the reason in the detail.
        CLOSED,

        /// Bytes or the end of input arrived.
        READ,

        /// The kernel accepted output, or the output has ended.
        WROTE,

        /// Reading was paused.
        PAUSED,

        /// Reading was resumed.
        RESUMED,

        /// Pending output exceeded the high-water mark.
        HIGH_WATER,

        /// Pending output fell to the low-water mark.
        LOW_WATER,

        /// A timeout expired.
        TIMEOUT,

        /// A callback threw, or the transport failed.
        ERROR,

        /// The connection started TLS, or began to drain.
        STATE,

        /// The connection left its loop for another one, or arrived there.
        MOVED,

        /// A timer of the loop fired. Only traces of all connections have it.
        TIMER,

        /// The protocol reported something, such as a request or a response.
        PROTOCOL
    }

    /// Formats events for operators, one per line:
    /// `2026-01-31T12:00:00.123456Z serve-0 #42 READ 512 bytes`.
    public static String text(List<TraceEvent> events) {
        StringBuilder text = new StringBuilder();
        for (TraceEvent event : events) {
            text.append(event.time).append(' ').append(event.loop).append(" #");
            text.append(event.connection).append(' ').append(event.kind);
            if (!event.detail.isEmpty()) {
                text.append(' ').append(event.detail.replaceAll("\\R", " "));
            }
            text.append('\n');
        }
        return text.toString();
    }
}
