package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

class HttpDateParseTest {
    private static final String IMF_FIXDATE = "Sun, 06 Nov 1994 08:49:37 GMT";
    private static final long SECONDS = 784_111_777;

    @Property
    void parse_everyFormat_isTheSecond(
            @ForAll @LongRange(min = 0, max = 3_124_224_000L) long seconds) {
        var time = Instant.ofEpochSecond(seconds).atOffset(ZoneOffset.UTC);
        assertThat(HttpDate.parse(HttpDate.of(seconds))).isEqualTo(seconds);
        for (String form : List.of("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM ppd HH:mm:ss uuuu")) {
            String text = DateTimeFormatter.ofPattern(form, Locale.ENGLISH).format(time);
            assertThat(HttpDate.parse(text)).as(text).isEqualTo(seconds);
        }
    }

    @Example
    void parse_ofTheExamplesOfTheStandard_isTheSameSecond() {
        assertThat(HttpDate.parse(IMF_FIXDATE)).isEqualTo(SECONDS);
        assertThat(HttpDate.parse("Sunday, 06-Nov-94 08:49:37 GMT")).isEqualTo(SECONDS);
        assertThat(HttpDate.parse("Sun Nov  6 08:49:37 1994")).isEqualTo(SECONDS);
    }

    @Example
    void parse_malformedDate_isNone() {
        for (String text :
                List.of(
                        "",
                        ",",
                        "Sun,",
                        "0",
                        "never",
                        "Mon, 06 Nov 1994 08:49:37 GMT",
                        "Sun, 06 Nov 1994 24:49:37 GMT",
                        "Sun, 06 Nov 1994 08:60:37 GMT",
                        "Sun, 06 Nov 1994 08:49:60 GMT",
                        "Sun, 00 Nov 1994 08:49:37 GMT",
                        "Thu, 31 Nov 1994 08:49:37 GMT",
                        "Sun, 06 nov 1994 08:49:37 GMT",
                        "Sun, 06 Nov 1994 08:49:37 UTC",
                        "Sun, 06 Nov 1994 08:49:37",
                        "Sun, 6 Nov 1994 08:49:37 GMT",
                        "Sun, 06 Nov -994 08:49:37 GMT",
                        "Sun, 06-Nov-94 08:49:37 GMT",
                        "Sunday, 06-Nov-1994 08:49:37 GMT",
                        "Sonntag, 06-Nov-94 08:49:37 GMT",
                        "Sun Nov 6 08:49:37 1994",
                        "Sun Nov  6 08-49-37 1994",
                        "1994-11-06T08:49:37Z")) {
            assertThat(HttpDate.parse(text)).as(text).isEqualTo(HttpDate.NONE);
        }
    }

    @Property
    void parse_ofADateWithALetterChanged_isNoneOrADate(
            @ForAll @IntRange(max = 28) int at, @ForAll @CharRange(from = ' ', to = '~') char c) {
        for (String text :
                List.of(
                        IMF_FIXDATE,
                        "Sunday, 06-Nov-94 08:49:37 GMT",
                        "Sun Nov  6 08:49:37 1994")) {
            int where = at % text.length();
            String changed = text.substring(0, where) + c + text.substring(where + 1);
            long read = HttpDate.parse(changed);
            assertThat(read == HttpDate.NONE || Math.abs(read) < 400_000_000_000L).isTrue();
        }
    }
}
