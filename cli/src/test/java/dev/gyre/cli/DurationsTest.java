package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import picocli.CommandLine.TypeConversionException;

final class DurationsTest {
    @ParameterizedTest
    @CsvSource({
        "0,      PT0S,   0 s",
        "30,     PT30S,  30 s",
        "250ms,  PT0.25S, 250 ms",
        "1.5s,   PT1.5S, 1500 ms",
        "5m,     PT5M,   5 min",
        "24h,    PT24H,  24 h",
        "90s,    PT1M30S, 90 s",
        "0.000000001h, PT0.0000036S, 0 s",
        "1.000000001ms, PT0.001000001S, 1 ms",
        "23.999999999h, PT23H59M59.9999964S, 86399999 ms",
        "86400000ms, PT24H, 24 h"
    })
    void duration_inEachUnit_isReadAndShown(String text, String iso, String shown) {
        assertThat(new Durations().convert(text).toString()).isEqualTo(iso);
        assertThat(Durations.show(new Durations().convert(text))).isEqualTo(shown);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "s",
                "-1s",
                "1d",
                "1 s",
                "1e3",
                ".5s",
                "5.s",
                "soon",
                "25h",
                "24.000000001h",
                "999999999h"
            })
    void nonsense_isNamed(String text) {
        assertThatThrownBy(() -> new Durations().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'");
    }
}
