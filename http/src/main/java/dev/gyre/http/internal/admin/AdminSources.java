package dev.gyre.http.internal.admin;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpMetrics;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.Watchdog;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// The loops that the admin server reports on, with their trace, metrics and watchdog.
///
/// @param loops returns the current loops
/// @param trace the trace of all loops
/// @param draining returns whether they are about to terminate
/// @param metrics `null` if requests are not measured
/// @param watchdog `null` if stalls are not detected
public record AdminSources(
        Supplier<List<EventLoop>> loops,
        Trace trace,
        BooleanSupplier draining,
        @Nullable HttpMetrics metrics,
        @Nullable Watchdog watchdog) {
    private static final double NANOS = 1e9;

    static double seconds(Duration duration) {
        return duration.toNanos() / NANOS;
    }

    /// Formats an address without a host name: `127.0.0.1:80`, `[::1]:80`, or a path.
    static String text(SocketAddress address) {
        if (!(address instanceof InetSocketAddress tcp) || tcp.getAddress() == null) {
            return address.toString();
        }
        String host = tcp.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + tcp.getPort();
    }
}
