package dev.gyre.bench;

import dev.gyre.bench.echo.Turns;

import org.HdrHistogram.Histogram;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/// Prints percentiles of latencies as a table, with ratios to the first file: `LatencyTable TITLE
/// FILE...`. [WakeLatency] and [TimerLateness] write the files, named after the programs. A program
/// that failed has the reason in `FILE.failed`.
public final class LatencyTable {
    private static final long LONGEST_NANOS = 10_000_000_000L;
    private static final int DIGITS = 3;

    private LatencyTable() {}

    public static void main(String[] args) throws IOException {
        System.out.printf(
                "%-22s %9s %9s %9s %9s   %7s %7s %9s%n",
                args[0] + ", µs", "p50", "p90", "p99", "p99.9", "× p50", "× p99", "samples");
        Histogram base = read(Path.of(args[1]));
        for (String arg : Arrays.asList(args).subList(1, args.length)) {
            Path file = Path.of(arg);
            String absent = Turns.absence(Path.of(""), arg);
            if (absent != null) {
                System.out.printf("%-22s %s%n", file.getFileName(), absent);
                continue;
            }
            Histogram histogram = read(file);
            System.out.printf(
                    Locale.ROOT,
                    "%-22s %9.2f %9.2f %9.2f %9.2f   %7.2f %7.2f %9d%n",
                    file.getFileName(),
                    micros(histogram, 50),
                    micros(histogram, 90),
                    micros(histogram, 99),
                    micros(histogram, 99.9),
                    micros(histogram, 50) / micros(base, 50),
                    micros(histogram, 99) / micros(base, 99),
                    histogram.getTotalCount());
        }
    }

    private static Histogram read(Path file) throws IOException {
        Histogram histogram = new Histogram(LONGEST_NANOS, DIGITS);
        if (!Files.exists(file)) {
            return histogram; // The reference failed: ratios are NaN.
        }
        try (var lines = Files.lines(file)) {
            lines.mapToLong(Long::parseLong)
                    .map(nanos -> Math.min(nanos, LONGEST_NANOS))
                    .forEach(histogram::recordValue);
        }
        return histogram;
    }

    private static double micros(Histogram histogram, double percentile) {
        return histogram.getTotalCount() == 0
                ? Double.NaN
                : histogram.getValueAtPercentile(percentile) / 1_000.0;
    }
}
