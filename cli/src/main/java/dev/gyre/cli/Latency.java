package dev.gyre.cli;

import org.HdrHistogram.Histogram;

import java.util.Locale;

/// What a histogram of nanoseconds says, in the few figures that are shown.
record Latency(long count, long p50Nanos, long p99Nanos, long maxNanos) {
    static Latency of(Histogram histogram) {
        return new Latency(
                histogram.getTotalCount(),
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99),
                histogram.getMaxValue());
    }

    String p50() {
        return orNone(p50Nanos);
    }

    String p99() {
        return orNone(p99Nanos);
    }

    String max() {
        return orNone(maxNanos);
    }

    @Override
    public String toString() {
        return "p50 " + p50() + ", p99 " + p99() + ", max " + max() + ", of " + count;
    }

    private String orNone(long nanos) {
        return count == 0 ? "-" : format(nanos);
    }

    /// Three digits and a unit, at most seven characters below 1 000 s. The unit is in ASCII because
    /// a terminal need not know the letter µ.
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
