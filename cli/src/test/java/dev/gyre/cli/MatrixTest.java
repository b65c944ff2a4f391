package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// Keeps `docs/MATRIX.md`, and the table that comes with the command line, at what the tests of the other
/// modules showed when they last ran as a whole; with `-Dgyre.matrix=write` writes both.
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

    private final Map<Cell, Set<String>> ran = new HashMap<>();
    private final Map<Cell, Set<String>> skipped = new HashMap<>();
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
        Map<Cell, Set<String>> outcome = fields[3].equals("ran") ? ran : skipped;
        outcome.computeIfAbsent(new Cell(clause, fields[0]), cell -> new TreeSet<>())
                .add(fields[2]);
    }

    /// The clauses of the contract, in its order.
    private static List<String> contract() throws IOException {
        return CLAUSE.matcher(Files.readString(SEMANTICS))
                .results()
                .map(heading -> heading.group(1))
                .toList();
    }

    private static int count(Map<Cell, Set<String>> of, String clause, String backend) {
        return of.getOrDefault(new Cell(clause, backend), Set.of()).size();
    }

    private Matrix shown() {
        Map<String, List<Integer>> tests = new HashMap<>();
        for (String clause : clauses) {
            tests.put(clause, BACKENDS.stream().map(b -> count(ran, clause, b)).toList());
        }
        return new Matrix(BACKENDS, tests);
    }

    @Test
    void matrix_isWhatTheTestsShowed() throws IOException {
        readResults();
        assumeFalse(
                clauses.isEmpty(), "the other modules' tests were not run as a whole: mvn test");
        clauses.addAll(contract()); // A clause without a test has a row too.
        if ("write".equals(System.getProperty("gyre.matrix"))) {
            Matrix shown = shown();
            Files.write(RESOURCE, shown.lines());
            Files.writeString(DOCUMENT, document(shown));
            return;
        }
        Matrix told = Matrix.parse(Files.readAllLines(RESOURCE));
        assertThat(told.tests().keySet())
                .as("docs/MATRIX.md lacks clauses. Write it anew: %s", COMMAND)
                .containsAll(clauses);
        assertThat(stale(told))
                .as("docs/MATRIX.md is not what the tests showed. Write it anew: %s", COMMAND)
                .isEmpty();
    }

    @Test
    void chapters_areSortedAsInTheContract() throws IOException {
        Map<String, List<Integer>> rows = new HashMap<>();
        contract().forEach(clause -> rows.put(clause, List.of(0, 0, 0, 0)));
        Matrix matrix = new Matrix(BACKENDS, rows);
        assertThat(matrix.tests().keySet()).containsExactlyElementsOf(contract());
        assertThat(matrix.chapters()).contains("H", "K").doesNotHaveDuplicates();
    }

    @Test
    void document_isTheTableOfTheCommandLine() throws IOException {
        assumeFalse("write".equals(System.getProperty("gyre.matrix")), "it is being written");
        assertThat(Files.readString(DOCUMENT))
                .as("docs/MATRIX.md is generated. Write it anew: %s", COMMAND)
                .isEqualTo(document(Matrix.parse(Files.readAllLines(RESOURCE))));
    }

    /// The cells that are wrong. What was skipped for want of something on this machine may have run on
    /// another; and a backend that this machine does not have at all is not judged.
    private List<String> stale(Matrix told) {
        List<String> wrong = new ArrayList<>();
        Set<String> all = new TreeSet<>(clauses);
        all.addAll(told.tests().keySet());
        for (String backend : BACKENDS) {
            if (ran.keySet().stream().noneMatch(cell -> cell.backend.equals(backend))) {
                continue;
            }
            for (String clause : all) {
                List<Integer> row = told.tests().getOrDefault(clause, List.of(0, 0, 0, 0));
                int number = row.get(told.backends().indexOf(backend));
                int least = count(ran, clause, backend);
                if (number < least || number > least + count(skipped, clause, backend)) {
                    wrong.add(clause + " on " + backend + ": " + number + ", not " + least);
                }
            }
        }
        return wrong;
    }

    private static String document(Matrix matrix) {
        StringBuilder text = new StringBuilder();
        text.append("# Matrix\n\n")
                .append(
                        "How many tests show that a clause of [SEMANTICS.md](SEMANTICS.md) holds on"
                                + " a ")
                .append("backend. Generated\nfrom the results of a whole run, by\n\n```\n")
                .append(COMMAND)
                .append(
                        "\n"
                            + "```\n\n"
                            + "A test counts if it carries the clause's id and succeeded. One that"
                            + " ")
                .append(
                        "names no backend counts for the\n"
                                + "one it got, which is epoll; that goes also for")
                .append(
                        " tests of parts that no kernel is needed for. Those\n"
                                + "that open loops run again ")
                .append(
                        "on io_uring. kqueue is tested over a kernel in memory, with the layouts\n"
                                + "of ")
                .append(
                        "macOS and FreeBSD, and has never met a real one here; the simulated"
                                + " backend is ")
                .append(
                        "the test kit's.\n"
                                + "Where a clause is about one backend, the others have nothing ")
                .append("to show.\n\n");
        text.append("| clause | ").append(String.join(" | ", matrix.backends())).append(" |\n");
        text.append("|---|").append("---:|".repeat(matrix.backends().size())).append('\n');
        matrix.tests()
                .forEach(
                        (clause, counts) -> {
                            text.append("| ").append(clause).append(" |");
                            counts.forEach(
                                    count -> text.append(count == 0 ? " |" : " " + count + " |"));
                            text.append('\n');
                        });
        return text.toString();
    }
}
