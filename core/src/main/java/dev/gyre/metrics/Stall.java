package dev.gyre.metrics;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/// A callback that ran for longer than the limit of a [Watchdog].
///
/// @param loop the name of the blocked loop
/// @param began when the watchdog first saw the callback run
/// @param elapsed how long the callback has run since then
/// @param limit the limit of the watchdog
/// @param ended whether the callback has ended; false while it still runs
/// @param kind the kind of callback
/// @param description what it is for: see [RunningCallback#description()]
/// @param stack the stack of the loop's thread at the detection, innermost frame first
public record Stall(
        String loop,
        Instant began,
        Duration elapsed,
        Duration limit,
        boolean ended,
        CallbackKind kind,
        String description,
        List<StackTraceElement> stack) {
    public Stall {
        stack = List.copyOf(stack);
    }
}
