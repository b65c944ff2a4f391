package dev.gyre.cli;

import org.HdrHistogram.Histogram;

import java.util.Locale;

/// Percentiles of a histogram of nanoseconds.
record Latency(long count, long p50Nanos, long p99Nanos, long maxNanos) {
    static Latency of(Histogram histogram) {
        return new Latency(
                histogram.getTotalCount(),
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99),
                histogram.getMaxValue());
    }

    String p50() {
        return orDash(p50Nanos);
    }

    String p99() {
        return orDash(p99Nanos);
    }

    String max() {
        return orDash(maxNanos);
    }

    @Override
    public String toString() {
        return "p50 " + p50() + ", p99 " + p99() + ", max " + max() + ", of " + count;
    }

    private String orDash(long nanos) {
        return count == 0 ? "-" : format(nanos);
    }

    /// Formats with three digits and a unit, in at most seven characters below 1 000 s. The unit is
    /// ASCII because a terminal may not show the letter µ.
    static String format(long nanos) {
        if (nanos < 1_000) {
            return nanos + " ns";
        }
        double value = nanos / 1e3;
        for (String unit : new String[] {"us", "ms"}) {
            if (value < 999.5) {
                return threeDigits(value) + " " + unit;
            }
            value /= 1e3;
        }
        return threeDigits(value) + " s";
    }

    private static String threeDigits(double value) {
        int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + decimals + "f", value);
    }
}
