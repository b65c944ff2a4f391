package dev.gyre.http.internal.message;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.YearMonth;
import java.time.ZoneOffset;

/// Formats and parses dates of headers, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Does not use the JDK's formatters: they load the day names of all languages, which delays a
/// server's first response. Parsing reports malformed dates without an exception, because any
/// client can send them.
public final class HttpDate {
    /// The result for a malformed date.
    public static final long NONE = Long.MIN_VALUE;

    private static final String[] DAYS = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

    /// Years of two digits are 1970 to 2069.
    private static final int FIRST_SHORT_YEAR = 1_970;

    private static final int BAD = -1;

    // The year has four digits.
    private static final long FIRST = LocalDateTime.of(0, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
    private static final long LAST =
            LocalDateTime.of(9_999, 12, 31, 23, 59, 59).toEpochSecond(ZoneOffset.UTC);

    private HttpDate() {}

    /// Formats a time, clamped to the years 0 to 9999: files may have any time.
    public static String of(long epochSeconds) {
        long clamped = Math.clamp(epochSeconds, FIRST, LAST);
        LocalDateTime time = LocalDateTime.ofEpochSecond(clamped, 0, ZoneOffset.UTC);
        int month = time.getMonthValue();
        StringBuilder text = new StringBuilder("Sun, 06 Nov 1994 08:49:37 GMT".length());
        text.append(DAYS[time.getDayOfWeek().getValue() - 1], 0, 3).append(", ");
        twoDigits(text, time.getDayOfMonth()).append(' ');
        text.append(MONTHS, 3 * (month - 1), 3 * month).append(' ');
        twoDigits(text, time.getYear() / 100);
        twoDigits(text, time.getYear() % 100).append(' ');
        twoDigits(text, time.getHour()).append(':');
        twoDigits(text, time.getMinute()).append(':');
        return twoDigits(text, time.getSecond()).append(" GMT").toString();
    }

    private static StringBuilder twoDigits(StringBuilder text, int number) {
        return text.append((char) ('0' + number / 10)).append((char) ('0' + number % 10));
    }

    /// Parses the three formats of RFC 9110, section 5.6.7.
    ///
    /// @return seconds since 1970; [#NONE] if the date is malformed
    public static long parse(String text) {
        int comma = text.indexOf(',');
        if (comma == 3 && matches(text, 0, "..., .. ... .... ..:..:.. GMT")) {
            int year = number(text, 12, 4);
            return seconds(weekday(text, 3), year, text, 8, number(text, 5, 2), 17);
        }
        if (comma > 3 && matches(text, comma, ", ..-...-.. ..:..:.. GMT")) {
            int digits = number(text, comma + 9, 2);
            int year = digits == BAD ? BAD : FIRST_SHORT_YEAR / 100 * 100 + digits;
            year += year != BAD && year < FIRST_SHORT_YEAR ? 100 : 0;
            int day = number(text, comma + 2, 2);
            return seconds(weekday(text, comma), year, text, comma + 5, day, comma + 12);
        }
        if (comma < 0 && matches(text, 0, "... ... .. ..:..:.. ....")) {
            int day = text.charAt(8) == ' ' ? number(text, 9, 1) : number(text, 8, 2);
            return seconds(weekday(text, 3), number(text, 20, 4), text, 4, day, 11);
        }
        return NONE;
    }

    /// Returns whether the text from an index on equals a pattern in which a dot is any character.
    private static boolean matches(String text, int from, String pattern) {
        if (text.length() - from != pattern.length()) {
            return false;
        }
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '.' && c != text.charAt(from + i)) {
                return false;
            }
        }
        return true;
    }

    /// @param length that of the name: 3 if abbreviated
    private static int weekday(String text, int length) {
        for (int i = 0; i < DAYS.length; i++) {
            if ((length == 3 || length == DAYS[i].length())
                    && text.regionMatches(0, DAYS[i], 0, length)) {
                return i + 1;
            }
        }
        return BAD;
    }

    private static int month(String text, int at) {
        for (int i = 0; i < MONTHS.length(); i += 3) {
            if (text.regionMatches(at, MONTHS, i, 3)) {
                return i / 3 + 1;
            }
        }
        return BAD;
    }

    private static int number(String text, int at, int digits) {
        int number = 0;
        for (int i = at; i < at + digits; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return BAD;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    /// @param monthAt the index of the month's name
    /// @param timeAt the index of a time such as `08:49:37`
    private static long seconds(
            int weekday, int year, String text, int monthAt, int day, int timeAt) {
        int month = month(text, monthAt);
        int hour = number(text, timeAt, 2);
        int minute = number(text, timeAt + 3, 2);
        int second = number(text, timeAt + 6, 2);
        boolean isTime =
                hour != BAD
                        && hour < 24
                        && minute != BAD
                        && minute < 60
                        && second != BAD
                        && second < 60;
        if (!isTime
                || weekday == BAD
                || year == BAD
                || month == BAD
                || day < 1
                || day > YearMonth.of(year, month).lengthOfMonth()) {
            return NONE;
        }
        LocalDate date = LocalDate.of(year, month, day);
        return date.getDayOfWeek().getValue() == weekday
                ? date.toEpochDay() * 86_400 + (hour * 60 + minute) * 60L + second
                : NONE;
    }
}
