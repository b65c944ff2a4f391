package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

class HttpDateTest {
    private static final DateTimeFormatter MODEL =
            DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);
    private static final long FIRST = -62_167_219_200L;
    private static final long LAST = 253_402_300_799L;

    @Property
    void date_ofAnyTimeOfFourDigits_isWhatTheJdkWrites(
            @ForAll @LongRange(min = FIRST, max = LAST) long epochSeconds) {
        assertThat(HttpDate.of(epochSeconds))
                .as("mend WrittenDate: it differs from the JDK at %d", epochSeconds)
                .isEqualTo(MODEL.format(Instant.ofEpochSecond(epochSeconds)));
    }

    @Example
    void date_ofTheStandardsExample_isTheStandards() {
        assertThat(HttpDate.of(784_111_777)).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    }

    @Example
    void date_beyondFourDigits_isTheLastThereIs() {
        assertThat(HttpDate.of(Long.MAX_VALUE)).isEqualTo("Fri, 31 Dec 9999 23:59:59 GMT");
        assertThat(HttpDate.of(Long.MIN_VALUE)).isEqualTo("Sat, 01 Jan 0000 00:00:00 GMT");
    }
}
