package dev.gyre;

import java.util.List;

/// The outcome of a group's termination.
///
/// @param loops the reports of all loops at the end, in the order of their names
/// @param failures all failed loops, including those that failed during shutdown, in chronological
///     order
public record GroupReport(List<ShutdownReport> loops, List<LoopFailure> failures) {
    /// Creates a report.
    public GroupReport {
        loops = List.copyOf(loops);
        failures = List.copyOf(failures);
    }

    /// Returns whether no loop failed and all loops finished their accepted work.
    public boolean isGraceful() {
        return failures.isEmpty() && loops.stream().allMatch(ShutdownReport::graceful);
    }

    /// Returns the sum of [ShutdownReport#abandoned()] over all loops.
    public long abandoned() {
        return loops.stream().mapToLong(ShutdownReport::abandoned).sum();
    }
}
