package dev.gyre.cli;

import picocli.CommandLine;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/// A command line run in this JVM, with what it printed.
record Execution(int status, String out, String err) {
    static Execution of(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine commandLine = Main.commandLine(args);
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        int status = commandLine.execute(args);
        return new Execution(status, out.toString(), err.toString());
    }

    /// The same on what claims to be another operating system.
    static Execution on(String system, String... args) {
        String here = System.getProperty("os.name");
        System.setProperty("os.name", system);
        try {
            return of(args);
        } finally {
            System.setProperty("os.name", here);
        }
    }

    List<String> lines() {
        return out.lines().toList();
    }
}
