package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Keeps `docs/SEMANTICS.md` and the tests together: every clause has tests, and each is named there.
class SemanticsTest {
    private static final Path DOCUMENT =
            Path.of(System.getProperty("gyre.root"), "docs", "SEMANTICS.md");

    private static final Pattern CLAUSE = Pattern.compile("^### ([A-Z]-\\d+)\\b.*");
    private static final Pattern TEST = Pattern.compile("`([A-Za-z]+\\.[A-Za-z0-9_]+)`");

    /// From clause to the tests that carry its id, as `Class.method`.
    private static Map<String, Set<String>> testsByClause() {
        Map<String, Set<String>> found = new TreeMap<>();
        for (JavaClass type :
                new ClassFileImporter()
                        .withImportOption(new ImportOption.OnlyIncludeTests())
                        .importPackages("dev.gyre")) {
            for (JavaMethod method : type.getMethods()) {
                if (method.isAnnotatedWith(Clause.class)) {
                    for (String id : method.getAnnotationOfType(Clause.class).value()) {
                        found.computeIfAbsent(id, key -> new TreeSet<>())
                                .add(type.getSimpleName() + "." + method.getName());
                    }
                }
            }
        }
        return found;
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
    private static final Set<String> AHEAD = Set.of("B-8");

    static {
        Map.of("L", 10, "Q", 7, "M", 3, "W", 9, "T", 7, "P", 5, "R", 2, "S", 4, "E", 3, "Y", 1)
                .forEach(
                        (chapter, clauses) -> {
                            for (int i = 1; i <= clauses; i++) {
                                BUILT.add(chapter + "-" + i);
                            }
                        });
        BUILT.addAll(Set.of("B-3", "B-7"));
    }

    @Test
    void document_hasTheClausesOfTheBuiltChapters() throws IOException {
        assertThat(testsByDocument().keySet()).isEqualTo(BUILT);
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
        Map<String, Set<String>> listed = testsByDocument();
        assertThat(listed.keySet())
                .as("no clauses found in %s: are their headings `### Q-5 …`?", DOCUMENT)
                .isNotEmpty();
        Map<String, Set<String>> marked = testsByClause();
        marked.keySet().retainAll(listed.keySet());
        assertThat(listed)
                .as(
                        "docs/SEMANTICS.md and the tests differ: name each test under its clause as"
                                + " a line \"- `Class.method`\"")
                .isEqualTo(marked);
    }
}
