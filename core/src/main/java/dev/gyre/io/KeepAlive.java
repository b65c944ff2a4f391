package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import java.time.Duration;

/// Describes how TCP probes a silent peer.
///
/// @param idle the silence before the first probe: whole seconds from 1 to 32 767
/// @param interval the time between two probes: whole seconds from 1 to 32 767
/// @param count the number of unanswered probes before the connection fails: from 1 to 127
public record KeepAlive(Duration idle, Duration interval, int count) {
    /// The kernel's maximum.
    private static final Duration MAX = Duration.ofSeconds(32_767);

    /// Checks the values.
    ///
    /// @throws IllegalArgumentException if one is out of range
    public KeepAlive {
        requireSeconds("idle", idle);
        requireSeconds("interval", interval);
        Checks.range("count", count, 1, 127);
    }

    private static void requireSeconds(String property, Duration duration) {
        Checks.range(property, duration, Duration.ofSeconds(1), MAX);
        if (!duration.equals(Duration.ofSeconds(duration.toSeconds()))) {
            throw new IllegalArgumentException(
                    property + " must be whole seconds, but is " + Checks.format(duration));
        }
    }
}
