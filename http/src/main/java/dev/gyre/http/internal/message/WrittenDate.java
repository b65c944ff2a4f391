package dev.gyre.http.internal.message;

import java.time.LocalDateTime;
import java.time.ZoneOffset;

/// A date as header fields have it: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Put together by hand: the JDK's formatters look up the names of days among the data of all languages, which
/// a server's first answer would wait for.
public final class WrittenDate {
    private static final String DAYS = "MonTueWedThuFriSatSun";
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

    // There are four digits for the year.
    private static final long FIRST = LocalDateTime.of(0, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
    private static final long LAST =
            LocalDateTime.of(9_999, 12, 31, 23, 59, 59).toEpochSecond(ZoneOffset.UTC);

    private WrittenDate() {}

    /// What lies beyond the year 9999 is written as its last second: files may claim any time.
    public static String of(long epochSeconds) {
        long told = Math.clamp(epochSeconds, FIRST, LAST);
        LocalDateTime time = LocalDateTime.ofEpochSecond(told, 0, ZoneOffset.UTC);
        StringBuilder text = new StringBuilder("Sun, 06 Nov 1994 08:49:37 GMT".length());
        name(text, DAYS, time.getDayOfWeek().getValue()).append(", ");
        twoDigits(text, time.getDayOfMonth()).append(' ');
        name(text, MONTHS, time.getMonthValue()).append(' ');
        twoDigits(text, time.getYear() / 100);
        twoDigits(text, time.getYear() % 100).append(' ');
        twoDigits(text, time.getHour()).append(':');
        twoDigits(text, time.getMinute()).append(':');
        return twoDigits(text, time.getSecond()).append(" GMT").toString();
    }

    private static StringBuilder name(StringBuilder text, String names, int ordinal) {
        return text.append(names, 3 * (ordinal - 1), 3 * ordinal);
    }

    private static StringBuilder twoDigits(StringBuilder text, int number) {
        return text.append((char) ('0' + number / 10)).append((char) ('0' + number % 10));
    }
}
