package dev.gyre.cli;

import java.io.Console;
import java.io.PrintWriter;

/// A status line: rewritten in place on a terminal, printed as a new line elsewhere.
///
/// It uses only carriage return and spaces, which every terminal supports.
final class LiveLine {
    private final PrintWriter out;
    private final boolean inPlace;
    private int shown;

    LiveLine(PrintWriter out, boolean inPlace) {
        this.out = out;
        this.inPlace = inPlace;
    }

    /// Returns whether input and output are a terminal. With redirected input the JVM does not know
    /// what output is, and separate lines suit both.
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

    /// Keeps the line: later output starts below it.
    void end() {
        if (inPlace && shown > 0) {
            out.println();
            out.flush();
        }
    }
}
