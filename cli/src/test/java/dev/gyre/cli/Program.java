package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Signal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// A command line run as a process of its own, and what it says, line by line as it says it.
final class Program implements AutoCloseable {
    private static final String MAIN = "dev.gyre.cli.Main";
    private static final int PATIENCE_SECONDS = 60;

    /// Behind the last line.
    private static final String END = "(end of output)";

    private final Process process;
    private final BlockingQueue<String> out = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> err = new LinkedBlockingQueue<>();

    private Program(List<String> command) throws IOException {
        process = new ProcessBuilder(command).start();
        Thread.ofVirtual().start(() -> collect(process.inputReader(), out));
        Thread.ofVirtual().start(() -> collect(process.errorReader(), err));
    }

    /// `gyre` with these arguments.
    static Program start(String... args) throws IOException {
        return new Program(gyre(args));
    }

    /// `gyre` on a JVM with one more option.
    static Program startWith(String option, String... args) throws IOException {
        List<String> command = gyre(args);
        command.add(1, option);
        return new Program(command);
    }

    /// Another program on a JVM with one more option.
    static Program startMain(String option, Class<?> main, String... args) throws IOException {
        List<String> command = gyre(args);
        command.set(command.indexOf(MAIN), main.getName());
        command.add(1, option);
        return new Program(command);
    }

    /// A shell script in which `"$@"` is `gyre` with these arguments.
    static Program inShell(String script, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(gyre(args));
        return new Program(command);
    }

    private static List<String> gyre(String... args) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-ea",
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                MAIN));
        command.addAll(List.of(args));
        return command;
    }

    private static void collect(BufferedReader reader, BlockingQueue<String> lines) {
        try (reader) {
            reader.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("(cannot be read: " + e + ")");
        }
        lines.add(END);
    }

    /// The next line of standard output.
    String out() throws InterruptedException {
        return next(out, "standard output");
    }

    /// The next line of standard error.
    String err() throws InterruptedException {
        return next(err, "standard error");
    }

    private String next(BlockingQueue<String> lines, String name) throws InterruptedException {
        String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new AssertionError(
                    "no line on %s for %d s; unread so far: out %s, err %s; look at %s with `ps`"
                            .formatted(name, PATIENCE_SECONDS, out, err, process));
        }
        return line;
    }

    /// What is left of standard output, once everybody who could write to it is gone.
    List<String> restOfOut() throws InterruptedException {
        return rest(out, "standard output");
    }

    List<String> restOfErr() throws InterruptedException {
        return rest(err, "standard error");
    }

    private List<String> rest(BlockingQueue<String> lines, String name)
            throws InterruptedException {
        List<String> rest = new ArrayList<>();
        String line = next(lines, name);
        while (!line.equals(END)) {
            rest.add(line);
            line = next(lines, name);
        }
        return rest;
    }

    void send(Signal signal) {
        try (EventLoop loop = EventLoop.open()) {
            boolean _ = ChildProcess.adopt(loop, process.pid()).signal(signal);
        }
    }

    /// Types at it, or writes to its standard input.
    void type(String text) throws IOException {
        process.outputWriter().write(text);
        process.outputWriter().flush();
    }

    void endInput() throws IOException {
        process.outputWriter().close();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /// Waits for its end.
    ///
    /// @return its exit status
    int status() throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError(
                    "did not end within %d s; unread so far: out %s, err %s"
                            .formatted(PATIENCE_SECONDS, out, err));
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
