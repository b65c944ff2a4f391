package dev.gyre.cli;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Parses durations of the command line: `30` (seconds), `250ms`, `1.5s`, `5m`, `2h`.
final class Durations implements ITypeConverter<Duration> {
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,9})(?:\\.([0-9]{1,9}))?(ms|s|m|h|)");
    private static final long MAX_MILLIS = Duration.ofDays(1).toMillis();

    /// Uses whole numbers: the first BigDecimal takes JDK 25 more than 30 ms, which would delay a
    /// server's first response.
    @Override
    public Duration convert(String value) {
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            throw new TypeConversionException(
                    "'" + value + "' is not a duration: write 250ms, 30s, 5m or 2h");
        }
        long unitMillis =
                switch (matcher.group(3)) {
                    case "ms" -> 1;
                    case "m" -> 60_000;
                    case "h" -> 3_600_000;
                    default -> 1_000;
                };
        long millis = Long.parseLong(matcher.group(1)) * unitMillis;
        long nanos = Math.ceilDiv(billionths(matcher.group(2)) * unitMillis, 1_000);
        if (millis > MAX_MILLIS || (millis == MAX_MILLIS && nanos > 0)) {
            throw new TypeConversionException("'" + value + "' is longer than a day");
        }
        return Duration.ofMillis(millis).plusNanos(nanos);
    }

    private static long billionths(@Nullable String digits) {
        return digits == null ? 0 : Long.parseLong((digits + "00000000").substring(0, 9));
    }

    /// Formats a duration in the largest unit of which it is a multiple.
    static String show(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 3_600_000 == 0 && millis > 0) {
            return millis / 3_600_000 + " h";
        }
        if (millis % 60_000 == 0 && millis > 0) {
            return millis / 60_000 + " min";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + " s" : millis + " ms";
    }
}
