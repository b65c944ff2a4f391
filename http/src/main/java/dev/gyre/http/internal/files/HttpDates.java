package dev.gyre.http.internal.files;

import dev.gyre.http.internal.message.WrittenDate;

import java.time.LocalDate;
import java.time.YearMonth;

/// Dates in header fields, as there are three ways to write them. Ours is [WrittenDate].
///
/// Read by hand, and without an exception for what is none: a request may have several, and anybody can send it.
final class HttpDates {
    /// What is no date.
    static final long NONE = Long.MIN_VALUE;

    private static final String SHORT_DAYS = "MonTueWedThuFriSatSun";
    private static final String[] LONG_DAYS = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

    /// Two digits are a year from this on: no file is older, and nobody writes it so in times to come.
    private static final int FIRST_OF_TWO_DIGITS = 1_970;

    private static final long DAY_SECONDS = 86_400;
    private static final int BAD = -1;

    private HttpDates() {}

    /// In seconds since 1970; [#NONE] if it is no date.
    static long read(String text) {
        int comma = text.indexOf(',');
        if (comma == 3) {
            return usual(text);
        }
        return comma > 0 ? withTwoDigits(text, comma) : asC(text);
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static long usual(String text) {
        boolean isForm =
                text.length() == 29
                        && text.charAt(4) == ' '
                        && text.charAt(7) == ' '
                        && text.charAt(11) == ' '
                        && text.charAt(16) == ' '
                        && text.startsWith(" GMT", 25);
        return isForm
                ? seconds(
                        shortDay(text),
                        number(text, 12, 4),
                        month(text, 8),
                        number(text, 5, 2),
                        time(text, 17))
                : NONE;
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static long withTwoDigits(String text, int comma) {
        boolean isForm =
                text.length() == comma + 24
                        && text.charAt(comma + 1) == ' '
                        && text.charAt(comma + 4) == '-'
                        && text.charAt(comma + 8) == '-'
                        && text.charAt(comma + 11) == ' '
                        && text.startsWith(" GMT", comma + 20);
        int digits = isForm ? number(text, comma + 9, 2) : BAD;
        if (digits == BAD) {
            return NONE;
        }
        int century = FIRST_OF_TWO_DIGITS / 100 * 100;
        int year = century + digits;
        return seconds(
                longDay(text, comma),
                year < FIRST_OF_TWO_DIGITS ? year + 100 : year,
                month(text, comma + 5),
                number(text, comma + 2, 2),
                time(text, comma + 12));
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static long asC(String text) {
        boolean isForm =
                text.length() == 24
                        && text.charAt(3) == ' '
                        && text.charAt(7) == ' '
                        && text.charAt(10) == ' '
                        && text.charAt(19) == ' ';
        return isForm
                ? seconds(
                        shortDay(text),
                        number(text, 20, 4),
                        month(text, 4),
                        text.charAt(8) == ' ' ? number(text, 9, 1) : number(text, 8, 2),
                        time(text, 11))
                : NONE;
    }

    // ------------------------------------------------------------------ parts of it

    private static int shortDay(String text) {
        return named(SHORT_DAYS, text, 0);
    }

    private static int longDay(String text, int length) {
        for (int i = 0; i < LONG_DAYS.length; i++) {
            if (LONG_DAYS[i].length() == length && text.startsWith(LONG_DAYS[i])) {
                return i + 1;
            }
        }
        return BAD;
    }

    private static int month(String text, int at) {
        return named(MONTHS, text, at);
    }

    /// Which of names of three letters it is, from 1 on.
    private static int named(String names, String text, int at) {
        for (int i = 0; i < names.length(); i += 3) {
            if (text.regionMatches(at, names, i, 3)) {
                return i / 3 + 1;
            }
        }
        return BAD;
    }

    /// The seconds of the day that `08:49:37` is.
    private static int time(String text, int at) {
        int hour = number(text, at, 2);
        int minute = number(text, at + 3, 2);
        int second = number(text, at + 6, 2);
        boolean isTime =
                text.charAt(at + 2) == ':'
                        && text.charAt(at + 5) == ':'
                        && hour != BAD
                        && hour < 24
                        && minute != BAD
                        && minute < 60
                        && second != BAD
                        && second < 60;
        return isTime ? (hour * 60 + minute) * 60 + second : BAD;
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

    private static long seconds(int weekday, int year, int month, int day, int timeOfDay) {
        if (weekday == BAD
                || year == BAD
                || month == BAD
                || day < 1
                || timeOfDay == BAD
                || day > YearMonth.of(year, month).lengthOfMonth()) {
            return NONE;
        }
        LocalDate date = LocalDate.of(year, month, day);
        return date.getDayOfWeek().getValue() == weekday
                ? date.toEpochDay() * DAY_SECONDS + timeOfDay
                : NONE;
    }
}
