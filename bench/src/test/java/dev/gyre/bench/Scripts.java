package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Runs the scripts of `bench/` with the classes of this build.
public final class Scripts {
    private Scripts() {}

    /// What became of a script.
    ///
    /// @param output both streams together
    public record Outcome(int status, String output) {
        public List<String> lines() {
            return output.lines().toList();
        }

        public void assertSuccess() {
            assertThat(status).as(output).isZero();
        }

        /// Asserts that it ended with this status, and said why.
        public void assertRefused(int expected, String complaint) {
            assertThat(status).as(output).isEqualTo(expected);
            assertThat(output).contains(complaint);
        }
    }

    /// Runs a script to its end.
    ///
    /// @param words its name, and the first of its arguments
    public static Outcome run(List<String> words, String... arguments) throws Exception {
        var command = new ArrayList<>(words);
        command.set(0, script(words.getFirst()));
        command.addAll(List.of("--class-path", classPath()));
        // Nobody looks at the figures, and half of what they take here would be C2's.
        command.addAll(List.of("--jvm", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        // Where there is one core only, they share it.
        List<String> cores = allowedCores();
        if (cores.size() == 1 && !command.contains("--cores")) {
            command.addAll(List.of("--cores", cores.getFirst() + "," + cores.getFirst()));
        }
        return start(command);
    }

    public static Outcome runOnOneCore(String name) throws Exception {
        return start(
                List.of(
                        "taskset",
                        "-c",
                        allowedCores().getFirst(),
                        script(name),
                        "--class-path",
                        classPath()));
    }

    private static Outcome start(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            byte[] output = process.getInputStream().readAllBytes();
            return new Outcome(process.waitFor(), new String(output, StandardCharsets.UTF_8));
        } finally {
            // Only after a timeout is there anything left. The script ends what it started.
            process.destroy();
        }
    }

    /// The first one that this process may use, and whether there are more: `0-3,8` has the two
    /// elements `0` and `3,8`.
    public static List<String> allowedCores() throws IOException {
        String line =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(field -> field.startsWith("Cpus_allowed_list:"))
                        .findFirst()
                        .orElseThrow();
        return List.of(line.substring(line.indexOf(':') + 1).strip().split("[-,]", 2));
    }

    private static String script(String name) {
        return Path.of(System.getProperty("gyre.root"), "bench", name).toString();
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /// On a developer's machine without them there is nothing to run; CI has them and must.
    public static void assumeTools(String... tools) {
        for (String tool : tools) {
            boolean found = false;
            for (String directory : System.getenv("PATH").split(":", -1)) {
                found |= Files.isExecutable(Path.of(directory, tool));
            }
            assumeTrue(
                    found || System.getenv("CI") != null, tool + " is missing: see .ci/packages");
        }
    }
}
