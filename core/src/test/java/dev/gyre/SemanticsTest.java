package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import static java.util.Map.entry;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Keeps `docs/SEMANTICS.md` and the tests together: every clause has tests, and each is named there. With
/// `-Dgyre.semantics=write` writes the names.
class SemanticsTest {
    private static final String COMMAND =
            "mvn -pl core test -Dtest=SemanticsTest -Dgyre.semantics=write";

    private static final Path DOCUMENT =
            Path.of(System.getProperty("gyre.root"), "docs", "SEMANTICS.md");

    private static final Pattern CLAUSE = Pattern.compile("^### ([A-Z]-\\d+)\\b.*");
    private static final Pattern TEST = Pattern.compile("`([A-Za-z0-9]+\\.[A-Za-z0-9_]+)`");

    private static final Pattern LINK = Pattern.compile("\\[([A-Z] [^]]+)]\\(#([^)]+)\\)");

    /// A test's mark, whatever other marks it has, and its name.
    private static final Pattern MARK =
            Pattern.compile(
                    "@Clause\\((\\{[^}]*}|\"[^\"]*\")\\)"
                            + "\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public )?void (\\w+)\\(");

    private static final Pattern ID = Pattern.compile("[A-Z]-\\d+");

    /// From clause to the tests that carry its id, as `Class.method`: in the sources, because some are in modules
    /// that are built later.
    private static Map<String, Set<String>> testsByClause() {
        Map<String, Set<String>> found = new TreeMap<>();
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

    private static void collect(Path file, Map<String, Set<String>> found) throws IOException {
        String type = file.getFileName().toString().replace(".java", "");
        Matcher mark = MARK.matcher(Files.readString(file));
        while (mark.find()) {
            Matcher id = ID.matcher(mark.group(1));
            while (id.find()) {
                found.computeIfAbsent(id.group(), key -> new TreeSet<>())
                        .add(type + "." + mark.group(2));
            }
        }
    }

    /// From clause to the tests its paragraph names.
    private static Map<String, Set<String>> testsByDocument() throws IOException {
        Map<String, Set<String>> found = new TreeMap<>();
        Set<String> current = new TreeSet<>();
        for (String line : Files.readAllLines(DOCUMENT)) {
            Matcher clause = CLAUSE.matcher(line);
            if (clause.matches()) {
                current = new TreeSet<>();
                assertThat(found.put(clause.group(1), current))
                        .as("clause %s is listed twice", clause.group(1))
                        .isNull();
            }
            Matcher test = TEST.matcher(line);
            while (line.startsWith("- `") && test.find()) {
                current.add(test.group(1));
            }
        }
        return found;
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
                    entry("H", 5),
                    entry("K", 1),
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
        assertThat(testsByDocument().keySet()).isEqualTo(BUILT);
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
        Set<String> unknown = new TreeSet<>(testsByClause().keySet());
        unknown.removeAll(BUILT);
        unknown.removeAll(AHEAD);
        assertThat(unknown).as("@Clause ids that no chapter has: mistyped?").isEmpty();
    }

    @Test
    void everyClause_hasATest() throws IOException {
        Set<String> untested = new TreeSet<>(testsByDocument().keySet());
        untested.removeAll(testsByClause().keySet());
        assertThat(untested)
                .as("clauses of docs/SEMANTICS.md without a test: write one and mark it @Clause")
                .isEmpty();
    }

    @Test
    void everyMarkedTest_isNamedUnderItsClause() throws IOException {
        if ("write".equals(System.getProperty("gyre.semantics"))) {
            write(testsByClause());
        }
        Map<String, Set<String>> listed = testsByDocument();
        assertThat(listed.keySet())
                .as("no clauses found in %s: are their headings `### Q-5 …`?", DOCUMENT)
                .isNotEmpty();
        Map<String, Set<String>> marked = testsByClause();
        marked.keySet().retainAll(listed.keySet());
        assertThat(listed)
                .as(
                        "docs/SEMANTICS.md and the tests differ: name each test under its clause as"
                                + " a line \"- `Class.method`\", or have it done by %s",
                        COMMAND)
                .isEqualTo(marked);
    }

    /// Puts the tests of each clause where those are that it names now, or behind its text.
    private static void write(Map<String, Set<String>> tests) throws IOException {
        List<String> written = new ArrayList<>();
        Set<String> left = Set.of();
        for (String line : Files.readAllLines(DOCUMENT)) {
            boolean isTest = line.startsWith("- `") && TEST.matcher(line).find();
            if (isTest || line.startsWith("#")) {
                left.forEach(test -> written.add("- `" + test + "`"));
                boolean isMissed = !isTest && !left.isEmpty();
                left = Set.of();
                if (isMissed) {
                    written.add("");
                }
            }
            Matcher clause = CLAUSE.matcher(line);
            if (clause.matches()) {
                left = tests.getOrDefault(clause.group(1), Set.of());
            }
            if (!isTest) {
                written.add(line);
            }
        }
        Files.write(DOCUMENT, written);
    }
}
