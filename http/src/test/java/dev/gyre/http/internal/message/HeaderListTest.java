package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.Test;

class HeaderListTest {
    private static final int MAX_BYTES = 16 << 10;

    private final HeaderList fields = new HeaderList();

    private String text() {
        StringBuilder out = new StringBuilder();
        fields.appendTo(out);
        return out.toString();
    }

    private void assertBytesAreCounted() {
        assertThat(fields.bytes()).as(this::text).isEqualTo(text().getBytes(UTF_8).length);
    }

    @Test
    void set_replacesAllOfThatName_whateverTheCase_andLeavesOthers() {
        fields.add("A", "1");
        fields.add("X", "2");
        fields.add("x", "3");
        fields.add("Xx", "4");
        fields.set("x", "5");
        assertThat(text()).isEqualTo("A: 1\r\nXx: 4\r\nx: 5\r\n");
        assertThat(fields.get("X")).isEqualTo("5");
        assertThat(fields.get("a")).as("the first one").isEqualTo("1");
        assertBytesAreCounted();
        fields.remove("a");
        assertThat(fields.get("A")).isNull();
        assertThat(text()).isEqualTo("Xx: 4\r\nx: 5\r\n");
        assertBytesAreCounted();
    }

    @Test
    void lists_findsAnElementOfTheFirstAndOfLaterFields() {
        fields.add("A", "x, y");
        fields.add("B", "x");
        fields.add("a", "Z");
        assertThat(fields.containsToken("a", "Y")).isTrue();
        assertThat(fields.containsToken("A", "z")).isTrue();
        assertThat(fields.containsToken("B", "y")).isFalse();
    }

    @Test
    void bytes_areThoseOfTheLinesInUtf8() {
        fields.add("A", "");
        assertBytesAreCounted();
        fields.add("B", "~\u0080\u07ff\u0800\uffff\ud83d\ude00");
        assertBytesAreCounted();
        HeaderList others = new HeaderList();
        others.add("C", "\u00e9");
        fields.addAll(others);
        assertBytesAreCounted();
        fields.set("b", "short");
        assertBytesAreCounted();
        fields.clear();
        assertThat(fields.bytes()).isZero();
        assertThat(fields.isEmpty()).isTrue();
    }

    @Test
    void fields_upToTheLimit_areTaken_andOneByteMoreIsRefused_untilOneIsReplaced() {
        fields.add("A", "a".repeat(MAX_BYTES - "A: \r\nB: \r\n".length() - 1));
        fields.add("B", "b");
        assertThat(fields.bytes()).isEqualTo(MAX_BYTES);
        assertThatThrownBy(() -> fields.add("C", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("16384");
        assertThatThrownBy(() -> fields.set("B", "bb"))
                .isInstanceOf(IllegalArgumentException.class);
        fields.set("A", "short");
        fields.add("C", "c".repeat(MAX_BYTES / 2));
        assertBytesAreCounted();
    }
}
