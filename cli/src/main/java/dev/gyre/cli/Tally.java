package dev.gyre.cli;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Datagram;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// What a server has served: connections, bytes, and how they ended.
///
/// Loop thread only.
final class Tally {
    private final Map<CloseReason, Long> ends = new EnumMap<>(CloseReason.class);
    private long connections;
    private long received;
    private long sent;

    void opened() {
        connections++;
    }

    void closed(Stream stream, CloseReason reason) {
        received += stream.received();
        sent += stream.sent();
        ends.merge(reason, 1L, Long::sum);
    }

    /// As in `3 connections, 1.2 kB received, 1.2 kB sent; 2 ended, 1 reset`.
    String text(Listener listener) {
        long refused = listener.refused();
        long shed = listener.shed();
        long strangers = listener.accepted() - refused - shed - connections;
        List<String> ways = new ArrayList<>();
        ends.forEach((reason, count) -> ways.add(count + " " + words(reason)));
        if (refused > 0) {
            ways.add(refused + " refused");
        }
        if (shed > 0) {
            ways.add(shed + " shed for lack of descriptors");
        }
        if (strangers > 0) {
            ways.add(strangers + " without a handshake");
        }
        return (connections == 1 ? "1 connection" : connections + " connections")
                + ", "
                + bytes(received)
                + " received, "
                + bytes(sent)
                + " sent"
                + (ways.isEmpty() ? "" : "; " + String.join(", ", ways));
    }

    static String words(CloseReason reason) {
        return reason.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// As in `3 messages received, 3 sent`, and whatever went wrong.
    static String text(Datagram socket) {
        return (socket.received() == 1 ? "1 message" : socket.received() + " messages")
                + " received, "
                + socket.sent()
                + " sent"
                + (socket.dropped() > 0 ? ", " + socket.dropped() + " dropped" : "")
                + (socket.failed() > 0 ? ", " + socket.failed() + " failed" : "");
    }

    /// In the unit that leaves at most three digits before the point.
    static String bytes(long bytes) {
        if (bytes < 1_000) {
            return bytes == 1 ? "1 byte" : bytes + " bytes";
        }
        double value = bytes / 1e3;
        for (String unit : new String[] {"kB", "MB", "GB"}) {
            if (value < 999.95) {
                return String.format(Locale.ROOT, "%.1f %s", value, unit);
            }
            value /= 1e3;
        }
        return String.format(Locale.ROOT, "%.1f TB", value);
    }
}
