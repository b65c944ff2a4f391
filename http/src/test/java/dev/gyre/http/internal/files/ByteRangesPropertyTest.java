package dev.gyre.http.internal.files;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;

import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

class ByteRangesPropertyTest {
    @Property(tries = 2_000)
    void of_anyText_isPartsOfTheFileThatDoNotOverlap(
            @ForAll @StringLength(max = 24) @CharRange(from = '+', to = '9') String text,
            @ForAll @IntRange(max = 50) int size) {
        ByteRanges ranges = ByteRanges.of("bytes=" + text, size);
        BitSet sent = new BitSet();
        for (ByteRanges.Part part : ranges.parts()) {
            assertThat(part.bytes()).isPositive();
            assertThat(part.offset()).isNotNegative();
            assertThat(part.last()).isLessThan(size);
            for (int i = (int) part.offset(); i <= part.last(); i++) {
                assertThat(sent.get(i)).as("no byte is sent twice: %s of %d", text, size).isFalse();
                sent.set(i);
            }
        }
        assertThat(ranges.parts().isEmpty()).isEqualTo(ranges.kind() != ByteRanges.Kind.PARTS);
    }

    @Property(tries = 2_000)
    void of_wellFormedRanges_isWhatTheyCover(
            @ForAll @Size(min = 1, max = 18) List<@IntRange(max = 30) Integer> firsts,
            @ForAll @IntRange(max = 5) int more,
            @ForAll @IntRange(min = 1, max = 40) int size) {
        String asked =
                firsts.stream()
                        .map(first -> first + "-" + (first + more))
                        .collect(Collectors.joining(", "));
        ByteRanges ranges = ByteRanges.of("bytes=" + asked, size);
        List<Integer> there = firsts.stream().filter(first -> first < size).toList();
        boolean overlap =
                there.stream()
                        .anyMatch(
                                a ->
                                        there.stream().filter(b -> Math.abs(a - b) <= more).count()
                                                > 1);
        ByteRanges.Kind expected =
                firsts.size() > 16 || overlap
                        ? ByteRanges.Kind.WHOLE
                        : there.isEmpty() ? ByteRanges.Kind.UNSATISFIABLE : ByteRanges.Kind.PARTS;
        assertThat(ranges.kind()).as("%s of %d", asked, size).isEqualTo(expected);
        if (expected == ByteRanges.Kind.PARTS) {
            assertThat(ranges.parts().stream().map(ByteRanges.Part::offset).toList())
                    .isEqualTo(there.stream().map(Integer::longValue).toList());
        }
    }

    private static String of(String ranges, long size) {
        ByteRanges found = ByteRanges.of("bytes=" + ranges, size);
        return found.kind() == ByteRanges.Kind.PARTS
                ? found.parts().stream()
                        .map(part -> part.offset() + "-" + part.last())
                        .collect(Collectors.joining(","))
                : found.kind().name();
    }

    @Example
    void of_anEmptyFile_isNowhere_orAllOfItIfItsLastBytesAreAskedFor() {
        assertThat(of("0-", 0)).isEqualTo("UNSATISFIABLE");
        assertThat(of("0-0", 0)).isEqualTo("UNSATISFIABLE");
        assertThat(of("-0", 0)).isEqualTo("UNSATISFIABLE");
        assertThat(of("-1", 0)).isEqualTo("WHOLE");
        assertThat(of("0-,-5", 0)).isEqualTo("WHOLE");
        assertThat(of("-0", 9)).isEqualTo("UNSATISFIABLE");
        assertThat(of("-1", 9)).isEqualTo("8-8");
        assertThat(of("-9", 9)).isEqualTo("0-8");
        assertThat(of("-10", 9)).isEqualTo("0-8");
    }

    @Example
    void of_aRangeThatEndsBeforeItBegins_isWhole() {
        assertThat(of("5-4", 9)).isEqualTo("WHOLE");
        assertThat(of("5-5", 9)).isEqualTo("5-5");
        assertThat(of("0-0", 9)).isEqualTo("0-0");
        assertThat(of("1-0", 9)).isEqualTo("WHOLE");
        assertThat(of("0-1,5-4", 9)).isEqualTo("WHOLE");
        assertThat(of("20-10", 9)).isEqualTo("WHOLE");
        assertThat(of("8-8", 9)).isEqualTo("8-8");
        assertThat(of("9-9", 9)).isEqualTo("UNSATISFIABLE");
        assertThat(of("-", 9)).isEqualTo("WHOLE");
    }
}
