package dev.gyre.cli;

import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.PrintWriter;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;

/// Reports an invalid command line: the reason, a suggestion, and how to get help. The help itself
/// is not printed, because it would scroll the reason out of view.
final class UsageErrors implements IParameterExceptionHandler {
    /// The max edit distance of a suggestion.
    private static final int MAX_DISTANCE = 2;

    @Override
    public int handleParseException(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        CommandSpec spec = command.getCommandSpec();
        PrintWriter err = command.getErr();
        if (args.length == 0) {
            command.usage(err); // Without arguments the help is the answer.
            err.println();
        }
        err.println(e.getMessage());
        suggestion(e).ifPresent(name -> err.println("Did you mean " + name + "?"));
        if (args.length > 0) {
            err.println(
                    spec.parent() == null
                            ? "Run gyre help for a list of commands."
                            : "Run gyre help " + spec.name() + " for its options.");
        }
        err.flush();
        return spec.exitCodeOnInvalidInput();
    }

    private static Optional<String> suggestion(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched)
                || unmatched.getUnmatched().isEmpty()) {
            return Optional.empty();
        }
        String typed = unmatched.getUnmatched().getFirst().split("=", 2)[0];
        CommandLine command = e.getCommandLine();
        Stream<String> names =
                typed.startsWith("-")
                        ? command.getCommandSpec().options().stream()
                                .filter(option -> !option.hidden())
                                .map(option -> option.longestName())
                        : command.getSubcommands().keySet().stream();
        return names.filter(name -> distance(typed, name) <= MAX_DISTANCE || isPrefix(typed, name))
                .min(Comparator.comparingInt(name -> distance(typed, name)));
    }

    /// Returns whether the word is a prefix, as in `--max-b`.
    private static boolean isPrefix(String typed, String name) {
        return typed.length() > "--x".length() && name.startsWith(typed);
    }

    /// Returns the Damerau-Levenshtein distance of two words.
    static int distance(String a, String b) {
        int[][] from = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                from[i][j] = i == 0 || j == 0 ? i + j : step(from, a, b, i, j);
            }
        }
        return from[a.length()][b.length()];
    }

    private static int step(int[][] from, String a, String b, int i, int j) {
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        int min = Math.min(from[i - 1][j], from[i][j - 1]) + 1;
        min = Math.min(min, from[i - 1][j - 1] + (same ? 0 : 1));
        boolean swapped =
                i > 1
                        && j > 1
                        && a.charAt(i - 1) == b.charAt(j - 2)
                        && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(min, from[i - 2][j - 2] + 1) : min;
    }
}
