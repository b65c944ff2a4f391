package dev.gyre.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs `bench/echo` with counts so small that only its working shows, never a figure.
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class EchoTest {
    private static final List<String> SERVERS =
            List.of(
                    "c-epoll",
                    "ffm-epoll",
                    "netty-epoll",
                    "netty-uring",
                    "gyre-epoll",
                    "gyre-uring");
    private static final String FIGURES = "( +\\d+\\.\\d\\d){4} +\\d+ +\\d+ % +\\d+ %";

    private record Outcome(int status, String output) {
        List<String> lines() {
            return output.lines().toList();
        }
    }

    @Test
    void echo_ofAFewMessages_hasARowForEachServer() throws Exception {
        assumeTools();

        Outcome outcome = echo("--rounds", "2", "--warm-up", "70", "--messages", "300");

        assertThat(outcome.status).as(outcome.output).isZero();
        for (String server : SERVERS) {
            assertThat(outcome.lines())
                    .as("a row for %s, with figures or with why there are none", server)
                    .anyMatch(line -> line.matches(server + "( +not here: .+|" + FIGURES + ")"));
        }
        // These run on any Linux.
        for (String server : SERVERS.subList(0, 3)) {
            assertThat(outcome.lines())
                    .as("figures of %s", server)
                    .anyMatch(line -> line.matches(server + FIGURES));
        }
    }

    @Test
    void echo_atItsEnd_printsTheTableAsALineOfJson() throws Exception {
        assumeTools();

        Outcome outcome = echo("--rounds", "1", "--warm-up", "1", "--messages", "64", "gyre-epoll");

        assertThat(outcome.status).as(outcome.output).isZero();
        assertThat(outcome.lines().getLast())
                .startsWith("{\"benchmark\":\"echo\",\"at\":\"")
                .contains("\"connections\":64,\"bytes\":64,\"warmUps\":1,\"messages\":64,")
                .contains("{\"server\":\"c-epoll\",\"cpuMicros\":", "{\"server\":\"gyre-epoll\",")
                .endsWith("}]}");
    }

    @Test
    void echo_askedForHelp_tellsOfEveryServer() throws Exception {
        Outcome outcome = echo("--help");

        assertThat(outcome.status).isZero();
        assertThat(outcome.output).contains(SERVERS).contains("--syscalls", "--jvm");
    }

    @Test
    void echo_ofWhatItDoesNotKnow_saysSo() throws Exception {
        assertRefused(echo("apache"), 2, "what is apache?");
        assertRefused(echo("--messages", "many"), 2, "--messages needs a number, not 'many'");
        assertRefused(echo("--cores", "1"), 2, "--cores needs two numbers, as in 0,1, not '1'");
    }

    @Test
    void echo_onOneCore_saysThatItNeedsTwo() throws Exception {
        assumeTools();
        String core = allowedCores().getFirst();

        Outcome outcome =
                run(List.of("taskset", "-c", core, script(), "--class-path", classPath()));

        assertRefused(outcome, 1, "two cores are needed");
        assertThat(outcome.output).contains("--cores " + core + "," + core);
    }

    private static void assertRefused(Outcome outcome, int status, String reason) {
        assertThat(outcome.status).as(outcome.output).isEqualTo(status);
        assertThat(outcome.output).contains("bench/echo: " + reason);
    }

    private static Outcome echo(String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(script(), "--class-path", classPath()));
        command.addAll(List.of(arguments));
        // Where there is one core only, they share it.
        List<String> cores = allowedCores();
        if (cores.size() == 1 && !command.contains("--cores")) {
            command.addAll(List.of("--cores", cores.getFirst() + "," + cores.getFirst()));
        }
        return run(command);
    }

    private static Outcome run(List<String> command) throws Exception {
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
    private static List<String> allowedCores() throws IOException {
        String line =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(field -> field.startsWith("Cpus_allowed_list:"))
                        .findFirst()
                        .orElseThrow();
        return List.of(line.substring(line.indexOf(':') + 1).strip().split("[-,]", 2));
    }

    private static String script() {
        return Path.of(System.getProperty("gyre.root"), "bench", "echo").toString();
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    /// On a developer's machine without them there is nothing to run; CI has them and must.
    private static void assumeTools() {
        for (String tool : List.of("cc", "taskset")) {
            boolean found = false;
            for (String directory : System.getenv("PATH").split(":", -1)) {
                found |= Files.isExecutable(Path.of(directory, tool));
            }
            assumeTrue(
                    found || System.getenv("CI") != null,
                    tool + " is missing (apt-get install gcc libc6-dev util-linux)");
        }
    }
}
