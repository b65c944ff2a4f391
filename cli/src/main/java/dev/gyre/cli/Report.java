package dev.gyre.cli;

import java.io.PrintWriter;

/// Prints sections of labelled lines in two columns. Long text wraps within its column.
final class Report {
    static final int WIDTH = 100;

    private static final int INDENT = 2;
    private static final int LABEL = 18;

    private final PrintWriter out;
    private boolean started;

    Report(PrintWriter out) {
        this.out = out;
    }

    void section(String title) {
        if (started) {
            out.println();
        }
        started = true;
        out.println(title);
    }

    void line(String label, String text) {
        int start = INDENT + LABEL;
        StringBuilder line = new StringBuilder(" ".repeat(INDENT)).append(label);
        pad(line, start - 1);
        for (String word : text.split(" ", -1)) {
            if (line.length() > start && line.length() + 1 + word.length() > WIDTH) {
                out.println(line);
                line.setLength(0);
                pad(line, start - 1);
            }
            line.append(' ').append(word);
        }
        out.println(line);
    }

    private static void pad(StringBuilder line, int width) {
        line.repeat(' ', Math.max(0, width - line.length()));
    }
}
