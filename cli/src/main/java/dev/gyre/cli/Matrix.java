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

/// How many tests show that a clause holds on a backend: `docs/MATRIX.md`, as a table that comes with the
/// command line. Made and checked by `MatrixTest`.
///
/// @param backends the columns
/// @param tests from a clause's id to a count for each of them
record Matrix(List<String> backends, Map<String, List<Integer>> tests) {
    private static final String RESOURCE = "matrix.csv";

    /// The chapters in their order, which is not that of the alphabet.
    private static final String CHAPTERS = "LQMWTPRSEOBNXHKGVY";

    Matrix {
        backends = List.copyOf(backends);
        Map<String, List<Integer>> sorted = new TreeMap<>(Matrix::compareClauses);
        sorted.putAll(tests);
        tests = sorted;
    }

    static Matrix packaged() {
        try (InputStream resource =
                        Objects.requireNonNull(
                                Matrix.class.getResourceAsStream(RESOURCE), RESOURCE);
                var reader =
                        new BufferedReader(
                                new InputStreamReader(resource, StandardCharsets.UTF_8))) {
            return parse(reader.lines().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Matrix parse(List<String> lines) {
        List<String> head = List.of(lines.getFirst().split(",", -1));
        Map<String, List<Integer>> tests = new TreeMap<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> fields = List.of(line.split(",", -1));
            tests.put(
                    fields.getFirst(),
                    fields.subList(1, head.size()).stream().map(Integer::valueOf).toList());
        }
        return new Matrix(head.subList(1, head.size()), tests);
    }

    /// What [#parse] reads.
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add("clause," + String.join(",", backends));
        tests.forEach(
                (clause, counts) ->
                        lines.add(
                                clause
                                        + ","
                                        + String.join(
                                                ",",
                                                counts.stream().map(String::valueOf).toList())));
        return lines;
    }

    /// The letters of those chapters that have clauses here, in order.
    List<String> chapters() {
        return tests.keySet().stream().map(clause -> clause.substring(0, 1)).distinct().toList();
    }

    /// How many of a chapter's clauses have a test on a backend, of how many: `9/9`.
    String covered(String chapter, String backend) {
        int column = backends.indexOf(backend);
        long all = tests.keySet().stream().filter(clause -> clause.startsWith(chapter)).count();
        long shown =
                tests.entrySet().stream()
                        .filter(row -> row.getKey().startsWith(chapter))
                        .filter(row -> row.getValue().get(column) > 0)
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
