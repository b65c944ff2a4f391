package dev.gyre.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The result of a trial, compared with its limits.
///
/// @param kind the kind of load, with its limits
/// @param connections the requested number of connections
/// @param dropped the number of connections that closed unexpectedly
/// @param missing the number of messages without a response
/// @param wrong the number of invalid responses
/// @param idleBytes the server's resident memory with all connections idle
/// @param idleCpu the share of a core used meanwhile
/// @param startBytes its memory after the warm-up
/// @param endBytes its memory at the end of the load
/// @param p99Nanos the 99th percentile of the latency
record Verdict(
        LoadKind kind,
        int connections,
        int dropped,
        long missing,
        long wrong,
        long idleBytes,
        double idleCpu,
        long startBytes,
        long endBytes,
        long p99Nanos) {
    static final double MAX_IDLE_CPU = 0.02;
    static final double MAX_GROWTH = 0.10;

    boolean isPass() {
        return misses().isEmpty();
    }

    /// Returns each exceeded limit.
    List<String> misses() {
        List<String> misses = new ArrayList<>();
        if (dropped > 0) {
            misses.add(dropped + " dropped (limit 0)");
        }
        if (missing > 0) {
            misses.add(missing + " messages lost (limit 0)");
        }
        if (wrong > 0) {
            misses.add(wrong + " invalid responses (limit 0)");
        }
        if (idleBytes > kind.maxIdleBytes()) {
            misses.add(
                    "server %s idle (limit %s)"
                            .formatted(size(idleBytes), size(kind.maxIdleBytes())));
        }
        if (idleCpu > MAX_IDLE_CPU) {
            misses.add(
                    "%s of a core idle (limit %s)"
                            .formatted(percent(idleCpu), percent(MAX_IDLE_CPU)));
        }
        if (growth() > MAX_GROWTH) {
            misses.add(
                    "memory grew by %s under load (limit %s)"
                            .formatted(percent(growth()), percent(MAX_GROWTH)));
        }
        if (p99Nanos >= kind.maxP99Nanos()) {
            misses.add(
                    "p99 %s (limit %s)"
                            .formatted(
                                    Latency.format(p99Nanos), Latency.format(kind.maxP99Nanos())));
        }
        return misses;
    }

    double growth() {
        return (double) (endBytes - startBytes) / startBytes;
    }

    /// Formats as one line.
    @Override
    public String toString() {
        return isPass()
                ? "PASS %d connections, none dropped, p99 %s, server %s idle"
                        .formatted(connections, Latency.format(p99Nanos), size(idleBytes))
                : "FAIL %d connections: %s".formatted(connections, String.join("; ", misses()));
    }

    static String size(long bytes) {
        return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", share * 100);
    }
}
