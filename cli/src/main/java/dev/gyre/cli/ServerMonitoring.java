package dev.gyre.cli;

import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.admin.AdminServer;
import dev.gyre.metrics.Watchdog;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;

/// Owns a server's watchdog and admin server.
///
/// Main thread only.
final class ServerMonitoring implements AutoCloseable {
    private final @Nullable Watchdog watchdog;
    private final @Nullable AdminServer admin;

    /// @param address of the admin server; `null` for none
    /// @param stallLimit zero for no watchdog
    /// @param metrics of HTTP; `null` if the server has none
    /// @throws dev.gyre.SystemCallException if the admin server cannot listen
    ServerMonitoring(
            LoopGroup group,
            @Nullable SocketAddress address,
            Duration stallLimit,
            @Nullable HttpMetrics metrics) {
        watchdog = stallLimit.isZero() ? null : Watchdog.on(group, stallLimit);
        try {
            admin = address == null ? null : listen(group, address, metrics, watchdog);
        } catch (RuntimeException e) {
            closeWatchdog();
            throw e;
        }
    }

    private static AdminServer listen(
            LoopGroup group,
            SocketAddress address,
            @Nullable HttpMetrics metrics,
            @Nullable Watchdog watchdog) {
        AdminServer server = AdminServer.of(group);
        if (metrics != null) {
            server.metrics(metrics);
        }
        if (watchdog != null) {
            server.watchdog(watchdog);
        }
        return server.listen(address);
    }

    /// Returns the address of the admin server; `null` if there is none.
    @Nullable SocketAddress adminAddress() {
        return admin == null ? null : admin.address();
    }

    /// Returns the URL of the dashboard; `null` if a browser cannot open it.
    @Nullable String dashboardUrl() {
        return adminAddress() instanceof InetSocketAddress internet
                ? "http://" + Addresses.show(internet) + "/"
                : null;
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.close();
        }
        closeWatchdog();
    }

    private void closeWatchdog() {
        if (watchdog != null) {
            watchdog.close();
        }
    }
}
