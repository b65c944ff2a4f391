package dev.gyre.metrics;

import dev.gyre.internal.base.Checks;

import java.time.Duration;
import java.util.Objects;

/// An immutable distribution of durations: see [HistogramRecorder].
///
/// [#plus] merges the histograms of several loops, and [#minus] selects an interval:
///
/// ```java
/// Histogram before = loop.metrics().taskDelay();
/// …
/// Duration p99 = loop.metrics().taskDelay().minus(before).percentile(99);
/// ```
public final class Histogram {
    /// A histogram without values.
    public static final Histogram EMPTY = new Histogram(new long[HistogramRecorder.BUCKETS], 0, 0);

    private final long[] counts;
    private final long count;
    private final long sumNanos;
    private final long maxNanos;

    Histogram(long[] counts, long sumNanos, long maxNanos) {
        this.counts = counts;
        this.sumNanos = sumNanos;
        this.maxNanos = maxNanos;
        long total = 0;
        for (long each : counts) {
            total += each;
        }
        count = total;
    }

    /// Returns the number of values.
    public long count() {
        return count;
    }

    /// Returns the sum of all values.
    public Duration sum() {
        return Duration.ofNanos(sumNanos);
    }

    /// Returns the mean; zero without values.
    public Duration mean() {
        return Duration.ofNanos(count == 0 ? 0 : sumNanos / count);
    }

    /// Returns the largest value; zero without values. After [#minus], at most 0.8 % off.
    public Duration max() {
        return Duration.ofNanos(maxNanos);
    }

    /// Returns the value that the given percentage of all values does not exceed, at most 0.8 %
    /// off; zero without values.
    ///
    /// @param percentage from 0 to 100
    /// @throws IllegalArgumentException if the percentage is out of range
    public Duration percentile(double percentage) {
        return Duration.ofNanos(percentileNanos(percentage));
    }

    /// Returns [#percentile] in nanoseconds.
    ///
    /// @param percentage from 0 to 100
    /// @throws IllegalArgumentException if the percentage is out of range
    public long percentileNanos(double percentage) {
        if (!(percentage >= 0 && percentage <= 100)) {
            throw new IllegalArgumentException("percentage " + percentage + ": not in 0 to 100");
        }
        // One unit less in the last place: 10 % of 10 values is the first one, whatever the
        // rounding.
        long rank = Math.max(1, (long) Math.ceil(Math.nextDown(percentage) * count / 100));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank && seen > 0) {
                return Math.min(middleOf(i), maxNanos);
            }
        }
        return maxNanos;
    }

    /// Returns how many values are at most the given duration. Values of its bucket count.
    public long countAtMost(Duration limit) {
        Objects.requireNonNull(limit, "limit");
        if (limit.isNegative()) {
            return 0;
        }
        int last =
                limit.compareTo(Duration.ofNanos(HistogramRecorder.MAX_VALUE)) >= 0
                        ? counts.length - 1
                        : HistogramRecorder.bucketOf(limit.toNanos());
        long total = 0;
        for (int i = 0; i <= last; i++) {
            total += counts[i];
        }
        return total;
    }

    /// Returns a histogram with the values of both.
    public Histogram plus(Histogram other) {
        long[] merged = counts.clone();
        for (int i = 0; i < merged.length; i++) {
            merged[i] += other.counts[i];
        }
        return new Histogram(merged, sumNanos + other.sumNanos, Math.max(maxNanos, other.maxNanos));
    }

    /// Returns the values recorded since an earlier snapshot of the same recorder.
    ///
    /// @throws IllegalArgumentException if the other snapshot has more values
    public Histogram minus(Histogram earlier) {
        Checks.range("earlier.count()", earlier.count, 0, count);
        long[] rest = counts.clone();
        long max = 0;
        for (int i = 0; i < rest.length; i++) {
            rest[i] = Math.max(0, rest[i] - earlier.counts[i]);
            if (rest[i] > 0) {
                max = middleOf(i);
            }
        }
        return new Histogram(
                rest, Math.max(0, sumNanos - earlier.sumNanos), Math.min(max, maxNanos));
    }

    private static long middleOf(int bucket) {
        long low = HistogramRecorder.lowerBoundOf(bucket);
        return (low + HistogramRecorder.lowerBoundOf(bucket + 1) - 1) >>> 1;
    }

    @Override
    public String toString() {
        return "Histogram[count %d, p50 %s, p99 %s, max %s]"
                .formatted(count, percentile(50), percentile(99), max());
    }
}
