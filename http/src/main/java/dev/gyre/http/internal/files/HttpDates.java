package dev.gyre.http.internal.files;

import dev.gyre.http.internal.message.WrittenDate;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;

/// Dates in header fields, as there are three ways to write them. Ours is [WrittenDate].
final class HttpDates {
    /// What is no date.
    static final long NONE = Long.MIN_VALUE;

    private static final List<DateTimeFormatter> READ =
            List.of(
                    DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.ENGLISH),
                    // Two digits are a year from 1970 on: no file is older, and nobody writes it so
                    // in times to come.
                    new DateTimeFormatterBuilder()
                            .appendPattern("EEEE, dd-MMM-")
                            .appendValueReduced(ChronoField.YEAR, 2, 2, 1_970)
                            .appendPattern(" HH:mm:ss 'GMT'")
                            .toFormatter(Locale.ENGLISH),
                    DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.ENGLISH));

    private HttpDates() {}

    /// In seconds since 1970; [#NONE] if it is no date.
    static long read(String text) {
        for (DateTimeFormatter form : READ) {
            try {
                return LocalDateTime.parse(text, form).toEpochSecond(ZoneOffset.UTC);
            } catch (DateTimeException e) {
                // One of the others, or none.
            }
        }
        return NONE;
    }
}
