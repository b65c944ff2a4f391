package dev.gyre.cli;

import java.io.Console;
import java.io.PrintWriter;

/// A line that is rewritten in place on a terminal, and printed anew elsewhere.
///
/// By carriage return and spaces alone, so that it works on every terminal.
final class LiveLine {
    private final PrintWriter out;
    private final boolean inPlace;
    private int shown;

    LiveLine(PrintWriter out, boolean inPlace) {
        this.out = out;
        this.inPlace = inPlace;
    }

    /// Whether there is a person at both ends. With input redirected the JVM does not say what output
    /// is, and lines are right for either.
    @SuppressWarnings("SystemConsoleNull") // on JDK 25 it is null where output goes to a pipe
    static boolean onTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    void show(String line) {
        if (inPlace) {
            out.print('\r' + line + " ".repeat(Math.max(0, shown - line.length())));
            shown = line.length();
        } else {
            out.println(line);
        }
        out.flush();
    }

    /// Leaves the line as it is: what follows is printed below.
    void end() {
        if (inPlace && shown > 0) {
            out.println();
            out.flush();
        }
    }
}
