package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/// Each example is short, compiled without a warning, and run. Those that need nobody else are run here.
final class ExamplesTest {
    private static final Path EXAMPLES = RunningExample.EXAMPLES;

    /// The whole services, which may be longer than the others.
    private static final Map<String, Integer> MAX_LINES =
            Map.of("TodoService.java", 250, "ReverseProxy.java", 100);

    /// The expected output of each, line by line.
    private static final Map<String, List<String>> OUTPUT =
            Map.of(
                    "Time.java",
                    List.of("tick", "tick", "tick", "tick", "tick"),
                    "Submit.java",
                    List.of("four threads counted to 400"),
                    "SimulatedServer.java",
                    List.of(
                            "received:  HELLO YOU",
                            "open after 29 s: true",
                            "closed after 31 s: true",
                            "the same in a thousand worlds"),
                    "SlowPeer.java",
                    List.of(
                            "received megabytes: true",
                            "waiting: 272 KiB",
                            "closed: WRITE_TIMEOUT",
                            "waiting: 0 KiB"),
                    "Pull.java",
                    List.of("you asked who are you?"),
                    "Microtasks.java",
                    List.of(
                            "1 first task",
                            "2 microtask",
                            "3 second task",
                            "4 deferred",
                            "5 timer"),
                    "Descriptors.java",
                    List.of("readable: 26 bytes", "readable: 8 bytes", "then 0 callbacks"),
                    "EchoOperations.java",
                    List.of("5 bytes: hello"),
                    "Frames.java",
                    List.of("frame: hello", "bytes in use: 0"),
                    "GracefulEnd.java",
                    List.of(
                            "a late task: TERMINATED",
                            "an accepted task",
                            "ShutdownReport[graceful=true, tasks=0, priorityTasks=0, microtasks=0,"
                                    + " deferred=0, work=0, promises=0, timers=1, watchers=0,"
                                    + " operations=0]",
                            "TERMINATED"));

    @TempDir Path directory;

    static List<String> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    static Set<String> examplesThatNeedNobodyElse() {
        return OUTPUT.keySet();
    }

    @Test
    void examples_all_areRunByATest() throws IOException {
        Set<String> run = new TreeSet<>(OUTPUT.keySet());
        run.addAll(HttpExamplesTest.DRIVEN);
        run.addAll(OperatingSystemExamplesTest.DRIVEN);
        run.addAll(PromiseExamplesTest.DRIVEN);
        run.addAll(ProxyExamplesTest.DRIVEN);
        run.addAll(StreamExamplesTest.DRIVEN);
        run.addAll(TodoServiceTest.DRIVEN);
        assertThat(examples())
                .as("an example needs its output here, or a test that drives it")
                .containsExactlyElementsOf(run);
    }

    @ParameterizedTest
    @MethodSource("examplesThatNeedNobodyElse")
    void example_run_printsWhatItShould(String name) throws Exception {
        try (var example = RunningExample.start(directory, name)) {
            List<String> lines = example.ends();
            if (name.equals("Time.java")) {
                // Periods that a stalled machine missed fire once together: five ticks at most.
                assertThat(lines).isNotEmpty().isSubsetOf("tick").hasSizeBetween(1, 5);
            } else {
                assertThat(lines).isEqualTo(OUTPUT.get(name));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void example_read_isShort(String name) throws IOException {
        int max = MAX_LINES.getOrDefault(name, 60);
        assertThat(Files.readAllLines(EXAMPLES.resolve(name))).hasSizeLessThanOrEqualTo(max);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void example_compiled_givesNoWarning(String name) {
        StringWriter messages = new StringWriter();
        PrintWriter writer = new PrintWriter(messages);
        List<String> arguments = new ArrayList<>(List.of("-Xlint:all", "-Werror"));
        // The default class path would be that of this test.
        arguments.addAll(List.of("--class-path", directory.toString()));
        arguments.addAll(RunningExample.modules(name));
        arguments.addAll(List.of("-d", directory.toString(), EXAMPLES.resolve(name).toString()));
        int status =
                ToolProvider.findFirst("javac")
                        .orElseThrow()
                        .run(writer, writer, arguments.toArray(String[]::new));

        assertThat(messages.toString()).isEmpty();
        assertThat(status).isZero();
    }

    @Test
    void time_theFirstExample_fitsOnACard() throws IOException {
        assertThat(Files.readAllLines(EXAMPLES.resolve("Time.java"))).hasSizeLessThanOrEqualTo(15);
    }
}
