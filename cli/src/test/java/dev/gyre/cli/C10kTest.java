package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.EventLoop;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.os.ChildProcess;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Neither latency nor processor time is in a test's own verdict: those are for a quiet machine.
@Timeout(120)
final class C10kTest {
    private static final String TIME = "\\d+(\\.\\d+)? (ns|us|ms|s)";
    private static final String SIZE = "\\d+\\.\\d MB";

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "io_uring"})
    void c10k_withAFewConnections_tellsWhatTheyCostAndJudges(String backend) {
        Execution execution =
                Execution.of("c10k", "-n", "40", "-i", "1s", "-w", "1s", "-l", "1s", "-b", backend);

        List<String> lines = execution.lines();
        assertThat(lines.getFirst())
                .matches("Server: process \\d+ on 127.0.0.1:\\d+ \\(TCP, .*\\)");
        assertThat(lines).contains("  40 of 40 connected", "Warm-up for 1 s");
        assertThat(lines).anyMatch(line -> line.matches("Connected 40 in " + TIME + ", .*"));
        assertThat(lines)
                .anyMatch(
                        line ->
                                line.matches(
                                        "Idle for 1 s: server "
                                                + SIZE
                                                + ", [\\d.]+ % of a core, \\d+ descriptors open"));
        assertThat(lines).anyMatch(line -> line.matches("  messages  \\d+, [\\d.]+ % of a core"));
        assertThat(lines)
                .anyMatch(
                        line ->
                                line.matches(
                                        "  latency   p50 T, p90 T, p99 T, p99.9 T, max T"
                                                .replace("T", TIME)));
        assertThat(lines).contains("  dropped   none");
        assertThat(lines.getLast())
                .matches("(PASS|FAIL) 40 connections.*")
                .doesNotContain("may be", "changed");
        assertThat(execution.status()).isEqualTo(lines.getLast().startsWith("PASS") ? 0 : 1);
        assertThat(server(lines.getFirst())).isEmpty();
    }

    @Test
    void c10k_overHttp_asksAWebServer() {
        Execution execution =
                Execution.of("c10k", "--http", "-n", "40", "-i", "1s", "-w", "1s", "-l", "1s");

        List<String> lines = execution.lines();
        assertThat(lines.getFirst())
                .matches("Server: process \\d+ on 127.0.0.1:\\d+ \\(1 loop, .*\\)");
        assertThat(lines)
                .contains("Load for 1 s: a request for /plaintext per second and connection")
                .contains("  dropped   none");
        assertThat(lines.getLast())
                .matches("(PASS|FAIL) 40 connections.*")
                .doesNotContain("may be", "changed");
        assertThat(server(lines.getFirst())).isEmpty();
    }

    /// Both backends at the same time, each with a client and a server of their own. Each
    /// connection is open for 17 seconds and then sends two requests, the second when all have
    /// their first response.
    @Test
    @Timeout(300)
    void c10k_ofTenThousandConnections_refusesAndDropsNoneAndServesAll() throws Exception {
        int connections = affordableConnections();
        try (Program epoll = tenThousand(connections, "epoll");
                Program uring = tenThousand(connections, "io_uring")) {
            assertAllServed(epoll, connections);
            assertAllServed(uring, connections);
        }
    }

    /// Fewer where the limit of open files does not allow for ten thousand, but not in CI.
    private static int affordableConnections() {
        int wanted = 10_000;
        long limit = DescriptorLimit.openFiles().hard();
        if (limit < 0 || limit >= wanted + C10k.OTHER_DESCRIPTORS) {
            return wanted;
        }
        String message = C10k.tooFewDescriptors(wanted, limit);
        assertThat(System.getenv("CI")).as(message).isNull();
        int fewer = (int) limit - C10k.OTHER_DESCRIPTORS;
        assumeTrue(fewer > 0, message);
        System.err.println(message + " Testing with " + fewer + ".");
        return fewer;
    }

    private static Program tenThousand(int connections, String backend) throws IOException {
        return Program.start(
                "c10k",
                "--http",
                "--connections=" + connections,
                "--idle=15s",
                "--warm-up=1s",
                "--load=1s",
                "--backend=" + backend);
    }

    /// Neither latency nor processor time counts here, and memory only by a generous limit.
    private static void assertAllServed(Program program, int connections) throws Exception {
        List<String> lines = program.restOfOut();
        assertThat(program.restOfErr()).isEmpty();
        assertThat(lines)
                .anyMatch(line -> line.startsWith("Connected " + connections + " in "))
                .anyMatch(line -> line.startsWith("  messages  " + connections + ", "))
                .contains("  dropped   none");
        assertThat(lines.getLast())
                .matches("(PASS|FAIL) " + connections + " connections.*")
                .doesNotContain("dropped (limit", "lost (limit", "invalid responses");
        assertThat(lines)
                .as("resident memory at the end of the load, at most 400 MB")
                .anyMatch(
                        line ->
                                line.matches(
                                        "  memory    .* at the start, [1-3]?\\d?\\d\\.\\d MB at the"
                                                + " end: .*"));
    }

    private static Optional<ProcessHandle> server(String firstLine) {
        long pid = Long.parseLong(firstLine.replaceFirst("Server: process (\\d+) .*", "$1"));
        return ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    }

    @Test
    void c10k_interrupted_endsItsServerToo() throws Exception {
        try (Program program = Program.start("c10k", "-n", "1", "--idle", "1h")) {
            String first = program.out();
            assertThat(program.out()).isEqualTo("  1 of 1 connected");
            assertThat(program.out()).startsWith("Connected 1 in ");

            program.send(Signal.SIGINT);

            assertThat(program.restOfOut()).containsExactly("Stopped by SIGINT.");
            assertThat(program.status()).isEqualTo(130);
            assertThat(server(first)).isEmpty();
        }
    }

    @Test
    void c10k_killed_leavesNoServerBehind() throws Exception {
        try (Program program = Program.start("c10k", "-n", "1", "--idle", "1h")) {
            ProcessHandle server = server(program.out()).orElseThrow();

            program.send(Signal.SIGKILL);

            assertThat(server.onExit().get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void c10k_whoseServerDies_saysSo() throws Exception {
        try (Program program = Program.start("c10k", "-n", "1", "--idle", "1h")) {
            ProcessHandle server = server(program.out()).orElseThrow();
            assertThat(program.out()).isEqualTo("  1 of 1 connected");
            assertThat(program.out()).startsWith("Connected 1 in ");

            try (EventLoop loop = EventLoop.open()) {
                boolean _ = ChildProcess.adopt(loop, server.pid()).signal(Signal.SIGKILL);
            }

            assertThat(program.err())
                    .isEqualTo("The measurement failed: the server killed by SIGKILL");
            assertThat(program.status()).isEqualTo(1);
        }
    }

    @Test
    void c10k_withTooFewDescriptors_saysWhatToDoBeforeItStarts() throws Exception {
        try (Program program = Program.inShell("ulimit -n 500 && exec \"$@\"", "c10k")) {
            assertThat(program.restOfErr())
                    .containsExactly(
                            "10000 connections need 10064 open files in each of two processes, but"
                                    + " the limit is 500: raise it (ulimit -n 10064), or use fewer"
                                    + " (--connections 436).");
            assertThat(program.restOfOut()).isEmpty();
            assertThat(program.status()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--connections=0,  must be from 1",
        "--idle=999ms,     at least 1s",
        "--load=0,         at least 1s",
        "--load=1500ms,    whole seconds",
        "--warm-up=1500ms, whole seconds",
        "--load=2d,        not a duration",
        "--backend=poll,   unknown backend",
        "7777,             7777"
    })
    void c10k_nonsense_isNamed(String argument, String expected) {
        Execution execution = Execution.of("c10k", argument);

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).contains(expected);
    }

    @Test
    void help_ofC10k_explainsFiguresLimitsAndOptions() {
        Execution execution = Execution.of("help", "c10k");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("memory", "latency", "dropped", "80 MB", "2 %", "50 ms", "growth")
                .contains("--connections", "--idle", "--warm-up", "--load", "--http", "--backend")
                .contains("PASS", "FAIL", "Exit status:", "Examples:");
    }
}
