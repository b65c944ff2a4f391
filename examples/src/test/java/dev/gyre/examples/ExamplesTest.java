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
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/// Each example is compiled without a warning and run as a reader would run it, with the core as a module.
final class ExamplesTest {
    private static final Path ROOT = Path.of(System.getProperty("gyre.root"));
    private static final Path EXAMPLES = ROOT.resolve("examples");
    private static final String CORE = System.getProperty("gyre.core.jar");

    /// What each prints, line by line.
    private static final Map<String, List<String>> OUTPUT =
            Map.of(
                    "Time.java",
                    List.of("tick", "tick", "tick", "tick", "tick"),
                    "Submit.java",
                    List.of("four threads counted to 400"),
                    "Microtasks.java",
                    List.of(
                            "1 first task",
                            "2 microtask",
                            "3 second task",
                            "4 deferred",
                            "5 timer"),
                    "GracefulEnd.java",
                    List.of(
                            "a late task: TERMINATED",
                            "an accepted task",
                            "ShutdownReport[graceful=true, tasks=0, priorityTasks=0, microtasks=0,"
                                    + " deferred=0, timers=1, watchers=0]",
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

    @ParameterizedTest
    @MethodSource("examples")
    void example_run_printsWhatItShould(String name) throws Exception {
        assertThat(OUTPUT).as("what the examples print").containsKey(name);
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--module-path",
                                CORE,
                                "--add-modules",
                                "dev.gyre",
                                "--enable-native-access=dev.gyre",
                                EXAMPLES.resolve(name).toString())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ends by itself").isTrue();
            assertThat(err).isEmptyFile();
            if (name.equals("Time.java")) {
                // Periods that a stalled machine missed fire once together: five ticks at most.
                assertThat(Files.readAllLines(out))
                        .isNotEmpty()
                        .isSubsetOf("tick")
                        .hasSizeBetween(1, 5);
            } else {
                assertThat(Files.readAllLines(out)).isEqualTo(OUTPUT.get(name));
            }
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void example_compiled_givesNoWarning(String name) {
        StringWriter messages = new StringWriter();
        PrintWriter writer = new PrintWriter(messages);
        int status =
                ToolProvider.findFirst("javac")
                        .orElseThrow()
                        .run(
                                writer,
                                writer,
                                "-Xlint:all",
                                "-Werror",
                                "--class-path", // Or it would be this test's own.
                                directory.toString(),
                                "--module-path",
                                CORE,
                                "--add-modules",
                                "dev.gyre",
                                "-d",
                                directory.toString(),
                                EXAMPLES.resolve(name).toString());

        assertThat(messages.toString()).isEmpty();
        assertThat(status).isZero();
    }

    @Test
    void time_theFirstExample_fitsOnACard() throws IOException {
        assertThat(Files.readAllLines(EXAMPLES.resolve("Time.java"))).hasSizeLessThanOrEqualTo(15);
    }

    @Test
    void readme_itsFirstJavaBlock_isTheTimeExample() throws IOException {
        Matcher block =
                Pattern.compile("^```java\\R(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL)
                        .matcher(Files.readString(ROOT.resolve("README.md")));

        assertThat(block.find()).as("README.md has a block of Java").isTrue();
        assertThat(block.group(1)).isEqualTo(Files.readString(EXAMPLES.resolve("Time.java")));
    }
}
