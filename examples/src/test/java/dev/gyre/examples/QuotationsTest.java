package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// What the pages show of the examples is what the examples are.
final class QuotationsTest {
    private static final Path ROOT = RunningExample.ROOT;
    private static final Path GUIDE = ROOT.resolve("docs/guide");

    private static final Pattern BLOCK =
            Pattern.compile("^```java\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern EXAMPLE =
            Pattern.compile("\\((?:\\.\\./\\.\\./)?examples/([\\w/]+\\.java)\\)");
    private static final Pattern LINK = Pattern.compile("]\\(([^):#]+)(#[^)]*)?\\)");

    static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(GUIDE)) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
        }
    }

    @Test
    void readme_itsFirstJavaBlock_isTheTimeExample() throws IOException {
        Matcher block = BLOCK.matcher(Files.readString(ROOT.resolve("README.md")));

        assertThat(block.find()).as("README.md has a block of Java").isTrue();
        assertThat(block.group(1))
                .isEqualTo(Files.readString(RunningExample.EXAMPLES.resolve("Time.java")));
    }

    @Test
    void readme_eachFurtherBlockOfJava_isQuotedFromTheExampleLinkedBeforeIt() throws IOException {
        String text = Files.readString(ROOT.resolve("README.md"));
        List<MatchResult> blocks = BLOCK.matcher(text).results().toList();
        assertQuoted(text, blocks.subList(1, blocks.size()));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void guide_eachBlockOfJava_isQuotedFromTheExampleLinkedBeforeIt(Path page) throws IOException {
        String text = Files.readString(page);
        List<MatchResult> blocks = BLOCK.matcher(text).results().toList();
        assertThat(blocks).as("blocks of Java in %s", page.getFileName()).isNotEmpty();
        assertQuoted(text, blocks);
    }

    private static void assertQuoted(String text, List<MatchResult> blocks) throws IOException {
        for (MatchResult block : blocks) {
            String name =
                    EXAMPLE.matcher(text.substring(0, block.start()))
                            .results()
                            .reduce((earlier, later) -> later)
                            .orElseThrow(() -> new AssertionError("no example before " + block))
                            .group(1);
            String quotation = block.group(1).stripTrailing();
            assertThat(passages(name, (int) quotation.lines().count()).contains(quotation))
                    .as("this is not in %s, which is linked before it:\n%s", name, quotation)
                    .isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void guide_eachLink_leadsSomewhere(Path page) throws IOException {
        assertThat(LINK.matcher(Files.readString(page)).results())
                .allSatisfy(
                        link ->
                                assertThat(page.resolveSibling(link.group(1)).normalize())
                                        .exists());
    }

    @Test
    void readme_eachLink_leadsSomewhere() throws IOException {
        assertThat(LINK.matcher(Files.readString(ROOT.resolve("README.md"))).results())
                .allSatisfy(link -> assertThat(ROOT.resolve(link.group(1)).normalize()).exists());
    }

    /// All runs of that many lines, moved to the left.
    private static List<String> passages(String example, int count) throws IOException {
        List<String> lines = Files.readAllLines(RunningExample.EXAMPLES.resolve(example));
        return IntStream.rangeClosed(0, lines.size() - count)
                .mapToObj(from -> lines.subList(from, from + count))
                .map(run -> String.join("\n", run).stripIndent())
                .toList();
    }
}
