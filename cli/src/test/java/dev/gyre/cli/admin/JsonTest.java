package dev.gyre.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.http.JsonMapper;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

final class JsonTest {
    @Test
    void parse_ofWhatTheServersMapperWrote_returnsTheSame() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("text", "a \"quote\", \\ , \n, \u0001, é and 😀");
        value.put("numbers", List.of(0.0, -1.5, 1e-7, 12345678.0));
        value.put("nested", Map.of("yes", true, "no", false));
        value.put("none", null);
        String text = new String(JsonMapper.writeOnly().write(value), StandardCharsets.UTF_8);

        assertThat(Json.parse(text).value()).isEqualTo(value);
    }

    @Test
    void get_ofAnAbsentMember_isNull() {
        Json json = Json.parse(" {\"a\" : [ 1 , {} , [] ] } ");
        assertThat(json.get("b").isNull()).isTrue();
        assertThat(json.get("b").get("c").number()).isZero();
        assertThat(json.get("a").list().getFirst().text()).isEqualTo("1");
        assertThat(json.get("a").list()).hasSize(3);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[1",
                "[1 2]",
                "{\"a\"}",
                "{\"a\":1,}",
                "\"open",
                "\"\\x\"",
                "\"\\u12\"",
                "nul",
                "--1",
                "1 2",
                "<html>"
            })
    void parse_ofMalformedText_namesThePosition(String text) {
        assertThatThrownBy(() -> Json.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("not JSON: expected .* at character \\d+");
    }

    @Test
    void parse_ofDeepNesting_isRefused() {
        assertThatThrownBy(() -> Json.parse("[".repeat(100_000)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
