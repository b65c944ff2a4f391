package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// Keeps `docs/MATRIX.md`, and the table that comes with the command line, at what the tests of the
/// other modules showed when they last ran as a whole; with `-Dgyre.matrix=write` writes both.
final class MatrixTest {
    private static final String COMMAND = "mvn -pl core,testkit,http,cli test -Dgyre.matrix=write";
    private static final List<String> BACKENDS =
            List.of("epoll", "io_uring", "kqueue", "simulated");

    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));
    private static final Pattern CLAUSE = Pattern.compile("(?m)^### ([A-Z]-[0-9]+) ");
    private static final Path SEMANTICS = ROOT.resolve("docs/SEMANTICS.md");
    private static final Path DOCUMENT = ROOT.resolve("docs/MATRIX.md");
    private static final Path RESOURCE =
            ROOT.resolve("cli/src/main/resources/dev/gyre/cli/matrix.csv");

    /// The tests of a clause on a backend.
    private record Cell(String clause, String backend) {}

    private final Set<Cell> ran = new HashSet<>();
    private final Set<Cell> skipped = new HashSet<>();
    private final Set<String> clauses = new TreeSet<>();

    private void readResults() throws IOException {
        for (String module : List.of("core", "testkit", "http")) {
            Path target = ROOT.resolve(module).resolve("target");
            if (!Files.isDirectory(target)) {
                continue;
            }
            try (var files = Files.newDirectoryStream(target, "matrix-{io_uring-,}[0-9]*.csv")) {
                for (Path file : files) {
                    Files.readAllLines(file).forEach(this::readResult);
                }
            }
        }
    }

    private void readResult(String line) {
        String[] fields = line.split(",", -1);
        String clause = fields[1];
        clauses.add(clause);
        (fields[3].equals("ran") ? ran : skipped).add(new Cell(clause, fields[0]));
    }

    /// The clauses of the contract, in its order.
    private static List<String> contract() throws IOException {
        return CLAUSE.matcher(Files.readString(SEMANTICS))
                .results()
                .map(heading -> heading.group(1))
                .toList();
    }

    private TestMatrix shown() {
        Map<String, List<Boolean>> tests = new HashMap<>();
        for (String clause : clauses) {
            tests.put(
                    clause,
                    BACKENDS.stream().map(each -> ran.contains(new Cell(clause, each))).toList());
        }
        return new TestMatrix(BACKENDS, tests);
    }

    @Test
    void matrix_isWhatTheTestsShowed() throws IOException {
        readResults();
        assumeFalse(
                clauses.isEmpty(), "the other modules' tests were not run as a whole: mvn test");
        clauses.addAll(contract()); // A clause without a test has a row too.
        if ("write".equals(System.getProperty("gyre.matrix"))) {
            TestMatrix shown = shown();
            Files.write(RESOURCE, shown.lines());
            Files.writeString(DOCUMENT, document(shown));
            return;
        }
        TestMatrix told = TestMatrix.parse(Files.readAllLines(RESOURCE));
        assertThat(told.tests().keySet())
                .as("docs/MATRIX.md lacks clauses. Write it anew: %s", COMMAND)
                .containsAll(clauses);
        assertThat(stale(told))
                .as("docs/MATRIX.md is not what the tests showed. Write it anew: %s", COMMAND)
                .isEmpty();
    }

    @Test
    void chapters_areSortedAsInTheContract() throws IOException {
        Map<String, List<Boolean>> rows = new HashMap<>();
        contract().forEach(clause -> rows.put(clause, List.of(false, false, false, false)));
        TestMatrix matrix = new TestMatrix(BACKENDS, rows);
        assertThat(matrix.tests().keySet()).containsExactlyElementsOf(contract());
        assertThat(matrix.chapters()).contains("H", "K").doesNotHaveDuplicates();
    }

    @Test
    void document_isTheTableOfTheCommandLine() throws IOException {
        assumeFalse("write".equals(System.getProperty("gyre.matrix")), "it is being written");
        assertThat(Files.readString(DOCUMENT))
                .as("docs/MATRIX.md is generated. Write it anew: %s", COMMAND)
                .isEqualTo(document(TestMatrix.parse(Files.readAllLines(RESOURCE))));
    }

    /// The cells that are wrong. What was skipped for want of something on this machine may have
    /// run on another; and a backend that this machine does not have at all is not judged.
    private List<String> stale(TestMatrix told) {
        List<String> wrong = new ArrayList<>();
        Set<String> all = new TreeSet<>(clauses);
        all.addAll(told.tests().keySet());
        for (String backend : BACKENDS) {
            if (ran.stream().noneMatch(cell -> cell.backend.equals(backend))) {
                continue;
            }
            for (String clause : all) {
                Cell cell = new Cell(clause, backend);
                List<Boolean> row = told.tests().getOrDefault(clause, List.of());
                boolean tested = !row.isEmpty() && row.get(told.backends().indexOf(backend));
                if (tested != ran.contains(cell) && !(tested && skipped.contains(cell))) {
                    wrong.add(clause + " on " + backend + (tested ? ": no test" : ": has a test"));
                }
            }
        }
        return wrong;
    }

    private static String document(TestMatrix matrix) {
        StringBuilder text = new StringBuilder();
        text.append(
                """
                # Matrix

                Which clauses of [SEMANTICS.md](SEMANTICS.md) have a test on which backend, generated from the
                results of a full run:

                ```
                %s
                ```

                A test counts if it carries the clause's id and passed. A test without a backend counts for epoll,
                the default, also if it needs no kernel. Tests that open loops run a second time on io_uring.
                kqueue is tested against a kernel in memory with the layouts of macOS and FreeBSD, never on a real
                one. The simulated backend is part of the test kit. A clause about one backend has no tests on the
                others.

                """
                        .formatted(COMMAND));
        text.append("| clause | ").append(String.join(" | ", matrix.backends())).append(" |\n");
        text.append("|---|").append("---|".repeat(matrix.backends().size())).append('\n');
        matrix.tests()
                .forEach(
                        (clause, tested) -> {
                            text.append("| ").append(clause).append(" |");
                            tested.forEach(each -> text.append(each ? " yes |" : " |"));
                            text.append('\n');
                        });
        return text.toString();
    }
}
