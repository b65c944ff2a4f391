package dev.gyre.cli;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Datagram;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Stream;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// Counts a server's connections, bytes and close reasons.
///
/// Any thread.
final class ServerStats {
    // Shared: guarded by the lock of this object. Loops count the beginning and the end of a
    // connection only.
    private final Map<CloseReason, Long> ends = new EnumMap<>(CloseReason.class);
    private long connections;
    private long received;
    private long sent;

    synchronized void opened() {
        connections++;
    }

    synchronized void closed(Stream stream, CloseReason reason) {
        received += stream.received();
        sent += stream.sent();
        ends.merge(reason, 1L, Long::sum);
    }

    /// Formats as in `3 connections, 1.2 kB received, 1.2 kB sent; 2 ended, 1 reset`.
    synchronized String text(GroupListener listener) {
        long refused = listener.refused();
        long shed = listener.shed();
        long withoutHandshake = listener.accepted() - refused - shed - connections;
        List<String> reasons = new ArrayList<>();
        ends.forEach((reason, count) -> reasons.add(count + " " + words(reason)));
        if (refused > 0) {
            reasons.add(refused + " refused");
        }
        if (shed > 0) {
            reasons.add(shed + " shed for lack of descriptors");
        }
        if (withoutHandshake > 0) {
            reasons.add(withoutHandshake + " without a handshake");
        }
        return (connections == 1 ? "1 connection" : connections + " connections")
                + ", "
                + bytes(received)
                + " received, "
                + bytes(sent)
                + " sent"
                + (reasons.isEmpty() ? "" : "; " + String.join(", ", reasons));
    }

    static String words(CloseReason reason) {
        return reason.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// Formats as in `3 messages received, 3 sent`, with drops and failures if any.
    static String text(Datagram socket) {
        return (socket.received() == 1 ? "1 message" : socket.received() + " messages")
                + " received, "
                + socket.sent()
                + " sent"
                + (socket.dropped() > 0 ? ", " + socket.dropped() + " dropped" : "")
                + (socket.failed() > 0 ? ", " + socket.failed() + " failed" : "");
    }

    /// Formats in the unit that leaves at most three digits before the point.
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
