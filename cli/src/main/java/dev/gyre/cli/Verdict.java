package dev.gyre.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What is held against a server of many connections.
///
/// @param kind what they came for, which has limits of its own
/// @param connections how many there were to be
/// @param dropped how many ended by themselves
/// @param missing how many messages did not come back
/// @param wrong how many came back as something else
/// @param idleBytes the server's resident memory with all of them idle
/// @param idleCpu the share of a core that it took meanwhile
/// @param startBytes its memory when it was warm
/// @param endBytes its memory at the end of the load
/// @param p99Nanos what 99 of 100 messages stayed within
record Verdict(
        CrowdKind kind,
        int connections,
        int dropped,
        long missing,
        long wrong,
        long idleBytes,
        double idleCpu,
        long startBytes,
        long endBytes,
        long p99Nanos) {
    static final double MOST_IDLE_CPU = 0.02;
    static final double MOST_GROWTH = 0.10;

    boolean isPass() {
        return misses().isEmpty();
    }

    /// Each limit that was missed.
    List<String> misses() {
        List<String> misses = new ArrayList<>();
        if (dropped > 0) {
            misses.add(dropped + " dropped, none may be");
        }
        if (missing > 0) {
            misses.add(missing + " messages did not come back, all must");
        }
        if (wrong > 0) {
            misses.add(wrong + " messages came back changed, none may");
        }
        if (idleBytes > kind.mostIdleBytes()) {
            misses.add(
                    "server %s idle, at most %s"
                            .formatted(size(idleBytes), size(kind.mostIdleBytes())));
        }
        if (idleCpu > MOST_IDLE_CPU) {
            misses.add(
                    "%s of a core idle, at most %s"
                            .formatted(percent(idleCpu), percent(MOST_IDLE_CPU)));
        }
        if (growth() > MOST_GROWTH) {
            misses.add(
                    "memory grew by %s under load, at most %s"
                            .formatted(percent(growth()), percent(MOST_GROWTH)));
        }
        if (p99Nanos >= kind.mostP99Nanos()) {
            misses.add(
                    "p99 %s, less than %s"
                            .formatted(
                                    Latency.format(p99Nanos), Latency.format(kind.mostP99Nanos())));
        }
        return misses;
    }

    double growth() {
        return (double) (endBytes - startBytes) / startBytes;
    }

    /// One line.
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
