package dev.gyre.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Which clauses have a test on which backend: `docs/MATRIX.md` as a table packaged with the
/// command line. `MatrixTest` generates and checks it.
///
/// @param backends the columns
/// @param tests clause id to whether it has a test, per backend
record TestMatrix(List<String> backends, Map<String, List<Boolean>> tests) {
    private static final String TESTED = "yes";
    private static final String RESOURCE = "matrix.csv";

    /// The chapters in the order of the contract.
    private static final String CHAPTERS = "LQMWTPRSEOBNXHKGVY";

    TestMatrix {
        backends = List.copyOf(backends);
        Map<String, List<Boolean>> sorted = new TreeMap<>(TestMatrix::compareClauses);
        sorted.putAll(tests);
        tests = sorted;
    }

    static TestMatrix packaged() {
        try (InputStream resource =
                        Objects.requireNonNull(
                                TestMatrix.class.getResourceAsStream(RESOURCE), RESOURCE);
                var reader =
                        new BufferedReader(
                                new InputStreamReader(resource, StandardCharsets.UTF_8))) {
            return parse(reader.lines().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static TestMatrix parse(List<String> lines) {
        List<String> head = List.of(lines.getFirst().split(",", -1));
        Map<String, List<Boolean>> tests = new TreeMap<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> fields = List.of(line.split(",", -1));
            tests.put(
                    fields.getFirst(),
                    fields.subList(1, head.size()).stream().map(TESTED::equals).toList());
        }
        return new TestMatrix(head.subList(1, head.size()), tests);
    }

    /// Returns the lines that [#parse] reads.
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("clause," + String.join(",", backends));
        tests.forEach(
                (clause, tested) ->
                        lines.add(
                                tested.stream()
                                        .map(each -> each ? TESTED : "")
                                        .collect(Collectors.joining(",", clause + ",", ""))));
        return lines;
    }

    /// Returns the letters of the chapters that have clauses, in order.
    List<String> chapters() {
        return tests.keySet().stream().map(clause -> clause.substring(0, 1)).distinct().toList();
    }

    /// Returns how many of a chapter's clauses have a test on a backend, as in `9/9`.
    String covered(String chapter, String backend) {
        int column = backends.indexOf(backend);
        long all = tests.keySet().stream().filter(clause -> clause.startsWith(chapter)).count();
        long shown =
                tests.entrySet().stream()
                        .filter(row -> row.getKey().startsWith(chapter))
                        .filter(row -> row.getValue().get(column))
                        .count();
        return shown == 0 ? "-" : shown + "/" + all;
    }

    private static int compareClauses(String one, String other) {
        int byChapter =
                Integer.compare(CHAPTERS.indexOf(one.charAt(0)), CHAPTERS.indexOf(other.charAt(0)));
        int[] numbers =
                Arrays.stream(new String[] {one, other})
                        .mapToInt(clause -> Integer.parseInt(clause.substring(2)))
                        .toArray();
        return byChapter != 0 ? byChapter : Integer.compare(numbers[0], numbers[1]);
    }
}
