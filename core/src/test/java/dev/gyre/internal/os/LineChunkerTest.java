package dev.gyre.internal.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Splits bytes into lines, wherever the buffers end.
class LineChunkerTest {
    private final List<String> seen = new ArrayList<>();

    private void feed(Chunker.Lines lines, byte[] bytes) {
        lines.add(ByteBuffer.wrap(bytes));
        takeAll(lines);
    }

    private static void takeAll(Chunker.Lines lines) {
        while (lines.hasNext()) {
            lines.deliverNext();
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Property(tries = 2_000)
    @Clause("Y-1")
    void lines_howeverTheBytesAreCut_areThoseOfTheText(
            @ForAll("texts") String text, @ForAll @IntRange(min = 1, max = 7) int cut) {
        seen.clear();
        Chunker.Lines lines = new Chunker.Lines(seen::add, 1_000);
        byte[] bytes = utf8(text);
        for (int from = 0; from < bytes.length; from += cut) {
            int count = Math.min(cut, bytes.length - from);
            feed(lines, java.util.Arrays.copyOfRange(bytes, from, from + count));
        }
        lines.end();
        takeAll(lines);

        List<String> expected = new ArrayList<>(List.of(text.split("\r?\n", -1)));
        if (expected.getLast().isEmpty()) {
            expected.removeLast(); // What ends with a line feed has no line behind it.
        }
        assertThat(seen).isEqualTo(expected);
    }

    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.of("a", "ß", "€", "𝄞", "\r", "\n", "\r\n", "long word")
                .list()
                .ofMaxSize(20)
                .map(parts -> String.join("", parts));
    }

    @Example
    @Clause("Y-1")
    void line_thatIsNotUtf8_hasReplacementsInPlaceOfWhatIsNot() {
        feed(new Chunker.Lines(seen::add, 10), new byte[] {'a', (byte) 0xFF, 'b', '\n'});
        assertThat(seen).containsExactly("a\uFFFDb");
    }

    @Example
    @Clause("Y-1")
    void line_ofTheLimit_isHandedOver_withEitherEnd() {
        Chunker.Lines lines = new Chunker.Lines(seen::add, 3);
        feed(lines, utf8("abc\nabc\r\nabc\r"));
        feed(lines, utf8("\nabc"));
        lines.end();
        takeAll(lines);
        assertThat(seen).containsExactly("abc", "abc", "abc", "abc");
        assertThat(lines.isTooLong()).isFalse();
    }

    @Example
    @Clause("Y-1")
    void line_beyondTheLimit_isTooLong_andThoseBeforeItAreHandedOver() {
        for (String text : List.of("ok\nabcd\n", "ok\nabcd\r\n", "ok\nabcde", "ok\nabc\r\r\n")) {
            seen.clear();
            Chunker.Lines lines = new Chunker.Lines(seen::add, 3);
            feed(lines, utf8(text));
            assertThat(seen).as(text).containsExactly("ok");
            assertThat(lines.isTooLong()).as(text).isTrue();
        }
        seen.clear();
        Chunker.Lines lines = new Chunker.Lines(seen::add, 3);
        feed(lines, utf8("abcd"));
        assertThat(lines.isTooLong()).as("it might be a carriage return's turn").isFalse();
        lines.end();
        takeAll(lines);
        assertThat(lines.isTooLong()).isTrue();
        assertThat(seen).isEmpty();
    }
}
