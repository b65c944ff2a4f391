package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

class JsonTextTest {
    @Test
    void parse_everyKindOfValue_isItsJavaValue() {
        assertThat(JsonText.parse(" {\"a\": [1, -2.5e3, true, false, null], \"b\": {}} "))
                .isEqualTo(
                        Map.of(
                                "a",
                                Arrays.asList(
                                        new BigDecimal("1"),
                                        new BigDecimal("-2.5e3"),
                                        true,
                                        false,
                                        null),
                                "b",
                                Map.of()));
        assertThat(JsonText.parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\""))
                .isEqualTo("\"\\/\b\f\n\r\té😀");
        assertThat(JsonText.parse("[]")).isEqualTo(List.of());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "}",
                "[1,]",
                "[1 2]",
                "{\"a\"}",
                "{\"a\":}",
                "{a:1}",
                "{\"a\":1,}",
                "01",
                "-",
                "1.",
                ".5",
                "1e",
                "+1",
                "NaN",
                "tru",
                "nul",
                "'a'",
                "\"a",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\n\"",
                "1 2",
                "{\"a\":1,\"a\":2}",
                "1e99999999999"
            })
    void parse_malformedText_throws(String text) {
        assertThatThrownBy(() -> JsonText.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("malformed JSON at index ");
    }

    @Test
    void parse_tooDeep_throws() {
        assertThatThrownBy(() -> JsonText.parse("[".repeat(100_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too many levels");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"a\":1,\"b\":2} | {\"b\":2, \"a\":1}   | ",
                "[1,1.0]           | [1.00, 1]            | ",
                "[1,2]             | [2,1]                | $[0]: expected 1 but was 2",
                "[1]               | [1,2]                | $: expected 1 elements but there are 2",
                "{\"a\":{\"b\":1}} | {\"a\":{\"b\":\"1\"}} | $.a.b: expected 1 but was \"1\"",
                "{\"a\":null}      | {}                   | $.a: expected null but the member is"
                        + " missing",
                "{}                | {\"a\":null}         | $.a: unexpected member null",
                "[]                | {}                   | $: expected [] but was {}"
            })
    void difference_isTheFirstPathThatDiffers(String expected, String actual, String difference) {
        assertThat(JsonText.difference(JsonText.parse(expected), JsonText.parse(actual), "$"))
                .isEqualTo(difference);
    }
}
