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

/// A command line that makes no sense: says why, what may have been meant, and where the help is. Not the help itself,
/// which is long enough to push the reason out of sight.
final class Misuse implements IParameterExceptionHandler {
    /// Letters that are wrong, missing, too many or in the place of their neighbour, for a name to be what was meant.
    private static final int MOST_SLIPS = 2;

    @Override
    public int handleParseException(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        CommandSpec spec = command.getCommandSpec();
        PrintWriter err = command.getErr();
        if (args.length == 0) {
            command.usage(err); // Nothing was said, so nothing was wrong: this is what there is.
            err.println();
        }
        err.println(e.getMessage());
        suggestion(e).ifPresent(name -> err.println("Did you mean " + name + "?"));
        if (args.length > 0) {
            err.println(
                    spec.parent() == null
                            ? "gyre help has the commands."
                            : "gyre help " + spec.name() + " has the options.");
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
        return names.filter(name -> slips(typed, name) <= MOST_SLIPS || begins(typed, name))
                .min(Comparator.comparingInt(name -> slips(typed, name)));
    }

    /// Whether somebody stopped typing: `--max-b`.
    private static boolean begins(String typed, String name) {
        return typed.length() > "--x".length() && name.startsWith(typed);
    }

    /// How far apart two words are (Damerau and Levenshtein).
    static int slips(String a, String b) {
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
        int least = Math.min(from[i - 1][j], from[i][j - 1]) + 1;
        least = Math.min(least, from[i - 1][j - 1] + (same ? 0 : 1));
        boolean swapped =
                i > 1
                        && j > 1
                        && a.charAt(i - 1) == b.charAt(j - 2)
                        && a.charAt(i - 2) == b.charAt(j - 1);
        return swapped ? Math.min(least, from[i - 2][j - 2] + 1) : least;
    }
}
