package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/// An example that was started as a reader would start it, with core, HTTP and test kit as modules, and what it says.
///
/// One that does not come to its end is killed after two minutes. Whoever waits for it then finds the end of
/// its output instead of what it should have said.
final class RunningExample implements AutoCloseable {
    static final Path ROOT = Path.of(System.getProperty("gyre.root"));
    static final Path EXAMPLES = ROOT.resolve("examples");

    /// The examples that also use Jackson and H2.
    private static final Set<String> WITH_LIBRARIES = Set.of("TodoService.java");

    /// The first to end leaves here what it has loaded of the compiler, which spares the others a third of their time.
    private static final Path CACHE = Path.of("target", "examples.jsa").toAbsolutePath();

    static {
        try {
            Files.deleteIfExists(CACHE); // Of other jars, and each example would complain of it.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final Executor LATER = CompletableFuture.delayedExecutor(2, TimeUnit.MINUTES);

    private final Process process;
    private final BufferedReader output;
    private final Path errors;

    private RunningExample(Process process, Path errors) {
        this.process = process;
        this.output = process.inputReader();
        this.errors = errors;
        LATER.execute(process::destroyForcibly);
    }

    /// Returns the options of java and javac for the modules of an example.
    static List<String> modules(String name) {
        List<String> path = new ArrayList<>();
        for (String module : List.of("core", "http", "testkit", "http-testkit")) {
            path.add(System.getProperty("gyre." + module + ".jar"));
        }
        String roots = "dev.gyre,dev.gyre.http,dev.gyre.testkit,dev.gyre.http.testkit";
        if (WITH_LIBRARIES.contains(name)) {
            path.add(System.getProperty("gyre.jackson.jar"));
            path.add(System.getProperty("gyre.libraries"));
            roots += ",dev.gyre.jackson,com.h2database";
        }
        return List.of(
                "--module-path", String.join(File.pathSeparator, path), "--add-modules", roots);
    }

    /// Starts an example in a directory, where its errors are kept too.
    static RunningExample start(Path directory, String name, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(modules(name));
        command.add("--enable-native-access=dev.gyre");
        command.add("-ea");
        // They run for a second: the better compiler would not be through with its work by then.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        if (!WITH_LIBRARIES.contains(name)) { // An archive is for one module path.
            command.addAll(
                    List.of("-XX:+AutoCreateSharedArchive", "-XX:SharedArchiveFile=" + CACHE));
        }
        command.addAll(List.of("-Xlog:cds=off", "-Xlog:aot=off")); // It tells what it cannot use.
        command.add(EXAMPLES.resolve(name).toString());
        command.addAll(List.of(arguments));
        Path errors = directory.resolve("errors-of-" + name);
        return new RunningExample(
                new ProcessBuilder(command)
                        .directory(directory.toFile())
                        .redirectError(errors.toFile())
                        .start(),
                errors);
    }

    /// Waits for these lines, and no others before them.
    void says(String... lines) throws IOException {
        for (String line : lines) {
            assertThat(nextLine()).isEqualTo(line);
        }
    }

    /// Waits for the next line.
    String nextLine() throws IOException {
        String line = output.readLine();
        assertThat(line)
                .as("the next line, or its end: see its errors\n%s", complaint())
                .isNotNull();
        return line;
    }

    /// Writes to its standard input.
    void hears(String text) throws IOException {
        Writer input = process.outputWriter();
        input.write(text);
        input.flush();
    }

    /// The end of its standard input.
    void hearsNoMore() throws IOException {
        process.outputWriter().close();
    }

    /// Sends what Ctrl-C sends. If this test was started with that ignored, as in the background of a
    /// script, so were the examples: then SIGTERM, which they treat alike.
    void interrupt() throws IOException, InterruptedException {
        send(isInterruptIgnored() ? "TERM" : "INT");
    }

    void send(String signal) throws IOException, InterruptedException {
        Process kill =
                new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid())
                        .inheritIO()
                        .start();
        assertThat(kill.waitFor()).as("exit code of kill").isZero();
    }

    private static boolean isInterruptIgnored() throws IOException {
        String ignored =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        .findFirst()
                        .orElseThrow();
        int interrupt = 2;
        long mask = Long.parseUnsignedLong(ignored.substring("SigIgn:".length()).strip(), 16);
        return (mask >>> (interrupt - 1) & 1) != 0;
    }

    /// Waits for the end, without a complaint.
    ///
    /// @return what it has said until then
    List<String> ends() throws IOException, InterruptedException {
        List<String> rest = endsWithComplaint();
        assertThat(complaint()).as("what it says on standard error").isEmpty();
        return rest;
    }

    /// Waits for the end.
    ///
    /// @return what it has said until then; what it complained of is had from [#complaint()]
    List<String> endsWithComplaint() throws IOException, InterruptedException {
        List<String> rest = output.readAllLines();
        assertThat(process.waitFor())
                .as("exit code; on standard error it says\n%s", complaint())
                .isZero();
        return rest;
    }

    /// What it has said on standard error.
    String complaint() throws IOException {
        return Files.readString(errors);
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
