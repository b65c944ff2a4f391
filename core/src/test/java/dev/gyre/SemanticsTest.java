package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import static java.util.Map.entry;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Keeps `docs/SEMANTICS.md` and the tests together: every clause has tests, and every test that
/// carries a clause id carries one of the document.
class SemanticsTest {
    private static final Path DOCUMENT =
            Path.of(System.getProperty("gyre.root"), "docs", "SEMANTICS.md");

    private static final Pattern CLAUSE = Pattern.compile("(?m)^### ([A-Z]-\\d+)\\b.*");

    private static final Pattern LINK = Pattern.compile("\\[([A-Z] [^]]+)]\\(#([^)]+)\\)");

    private static final Pattern MARK = Pattern.compile("@Clause\\((\\{[^}]*}|\"[^\"]*\")\\)");

    private static final Pattern ID = Pattern.compile("[A-Z]-\\d+");

    /// The clause ids that tests carry: in the sources, because some modules are built later.
    private static Set<String> markedClauses() {
        Set<String> found = new TreeSet<>();
        for (String module : List.of("core", "testkit", "http")) {
            Path tests = Path.of(System.getProperty("gyre.root"), module, "src/test/java");
            try (Stream<Path> files = Files.walk(tests)) {
                for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
                    collect(file, found);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return found;
    }

    private static void collect(Path file, Set<String> found) throws IOException {
        MARK.matcher(Files.readString(file))
                .results()
                .flatMap(mark -> ID.matcher(mark.group(1)).results())
                .forEach(id -> found.add(id.group()));
    }

    private static List<String> clausesOfTheDocument() throws IOException {
        return CLAUSE.matcher(Files.readString(DOCUMENT))
                .results()
                .map(clause -> clause.group(1))
                .toList();
    }

    /// What the document has to have: the chapters that are built.
    private static final Set<String> BUILT = new TreeSet<>();

    /// Ids that tests carry ahead of their chapters.
    private static final Set<String> AHEAD = Set.of();

    private static final Map<String, Integer> CLAUSES =
            Map.ofEntries(
                    entry("L", 10),
                    entry("Q", 7),
                    entry("M", 3),
                    entry("W", 9),
                    entry("T", 7),
                    entry("P", 5),
                    entry("R", 2),
                    entry("O", 9),
                    entry("N", 8),
                    entry("X", 1),
                    entry("H", 8),
                    entry("K", 1),
                    entry("G", 5),
                    entry("V", 7),
                    entry("B", 8),
                    entry("S", 4),
                    entry("E", 4),
                    entry("Y", 1));

    static {
        CLAUSES.forEach(
                (chapter, clauses) -> {
                    for (int i = 1; i <= clauses; i++) {
                        BUILT.add(chapter + "-" + i);
                    }
                });
    }

    @Test
    void document_hasTheClausesOfTheBuiltChapters() throws IOException {
        assertThat(clausesOfTheDocument()).containsExactlyInAnyOrderElementsOf(BUILT);
    }

    @Test
    void introduction_linksEveryChapter() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        List<String> chapters =
                lines.stream()
                        .filter(line -> line.startsWith("## "))
                        .map(line -> line.substring(3))
                        .toList();
        String introduction =
                String.join(" ", lines.subList(0, lines.indexOf("## " + chapters.getFirst())));
        List<String> links =
                LINK.matcher(introduction)
                        .results()
                        .map(link -> link.group(1) + " " + link.group(2))
                        .toList();
        assertThat(links)
                .isEqualTo(chapters.stream().map(title -> title + " " + anchor(title)).toList());
    }

    /// The anchor that a heading gets on a page.
    private static String anchor(String title) {
        return title.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9 -]", "").replace(' ', '-');
    }

    @Test
    void everyMark_isAClause() {
        Set<String> unknown = new TreeSet<>(markedClauses());
        unknown.removeAll(BUILT);
        unknown.removeAll(AHEAD);
        assertThat(unknown).as("@Clause ids that no chapter has: mistyped?").isEmpty();
    }

    @Test
    void everyClause_hasATest() throws IOException {
        Set<String> untested = new TreeSet<>(clausesOfTheDocument());
        untested.removeAll(markedClauses());
        assertThat(untested)
                .as("clauses of docs/SEMANTICS.md without a test: write one and mark it @Clause")
                .isEmpty();
    }
}
