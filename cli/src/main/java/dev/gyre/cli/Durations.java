package dev.gyre.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Durations as they are written on a command line: `30`, which is seconds, `250ms`, `1.5s`, `5m`, `2h`.
final class Durations implements ITypeConverter<Duration> {
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ms|s|m|h|)");
    private static final Duration MOST = Duration.ofDays(1);

    @Override
    public Duration convert(String value) {
        Matcher matcher = FORM.matcher(value);
        if (!matcher.matches()) {
            throw new TypeConversionException(
                    "'" + value + "' is no duration: write 250ms, 30s, 5m or 2h");
        }
        long unitNanos =
                switch (matcher.group(2)) {
                    case "ms" -> 1_000_000L;
                    case "m" -> 60_000_000_000L;
                    case "h" -> 3_600_000_000_000L;
                    default -> 1_000_000_000L;
                };
        BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(unitNanos));
        if (nanos.compareTo(BigDecimal.valueOf(MOST.toNanos())) > 0) {
            throw new TypeConversionException("'" + value + "' is longer than a day");
        }
        return Duration.ofNanos(nanos.setScale(0, RoundingMode.CEILING).longValueExact());
    }

    /// In the largest unit that it is a whole number of.
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
