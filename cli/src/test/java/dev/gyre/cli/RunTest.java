package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class RunTest {
    /// Says what reaches it, and ends with 7 at SIGTERM. Shells also say what becomes of their
    /// children.
    private static final String LISTENER =
            """
            exec 2>/dev/null
            trap 'echo got TERM; exit 7' TERM
            trap 'echo got HUP' HUP
            trap 'echo got USR1' USR1
            trap 'echo got INT' INT
            echo ready
            while :; do sleep 0.1; done
            """;

    @TempDir Path directory;

    // ------------------------------------------------------------------ signals

    @Test
    void run_terminated_passesItOnAndTakesTheCommandsStatus() throws Exception {
        try (Program program = Program.start("run", "--", "sh", "-c", LISTENER)) {
            assertThat(program.err()).matches("gyre: started process \\d+");
            assertThat(program.out()).isEqualTo("ready");
            program.send(Signal.SIGTERM);
            assertThat(program.out()).isEqualTo("got TERM");
            assertThat(program.status()).isEqualTo(7);
            assertThat(program.err())
                    .isEqualTo("gyre: stopping: SIGTERM forwarded, SIGKILL in 10 s");
            assertThat(program.err()).matches("gyre: process \\d+ exited with 7 after [\\d.]+ m?s");
            assertThat(program.restOfErr()).isEmpty();
        }
    }

    @Test
    void run_otherSignals_arePassedOnAndNoReasonToEnd() throws Exception {
        try (Program program = Program.start("run", "--quiet", "sh", "-c", LISTENER)) {
            assertThat(program.out()).isEqualTo("ready");
            program.send(Signal.SIGUSR1);
            assertThat(program.out()).isEqualTo("got USR1");
            program.send(Signal.SIGHUP); // no terminal, so it asks to reload
            assertThat(program.out()).isEqualTo("got HUP");
            program.send(Signal.SIGTERM);
            assertThat(program.out()).isEqualTo("got TERM");
            assertThat(program.status()).isEqualTo(7);
            assertThat(program.restOfErr()).isEmpty();
        }
    }

    @Test
    void run_stopIgnored_killsTheWholeGroup() throws Exception {
        try (Program program =
                Program.start(
                        "run",
                        "--stop-timeout=1",
                        "sh",
                        "-c",
                        "trap '' TERM; sleep 1000 & echo ready; while :; do sleep 0.1; done")) {
            assertThat(program.out()).isEqualTo("ready");
            program.send(Signal.SIGTERM);
            assertThat(program.status()).isEqualTo(137);
            // Ends only if the sleeper in the background, which had this output too, is gone.
            assertThat(program.restOfOut()).isEmpty();
            assertThat(program.restOfErr())
                    .contains("gyre: still running after 1 s: sending SIGKILL")
                    .last()
                    .asString()
                    .contains("killed by SIGKILL");
        }
    }

    @Test
    void run_commandLeavesAnotherBehind_terminatesThat() throws Exception {
        try (Program program =
                Program.start("run", "--quiet", "sh", "-c", "sleep 1000 & echo left it")) {
            assertThat(program.status()).isZero();
            assertThat(program.restOfOut()).containsExactly("left it");
        }
    }

    @Test
    void run_stoppedInAPause_hasTheSignalsStatus() throws Exception {
        try (Program program =
                Program.start("run", "--backoff=3600000", "--max-backoff=3600000", "false")) {
            assertThat(program.err()).startsWith("gyre: started");
            assertThat(program.err()).contains("exited with 1");
            assertThat(program.err()).isEqualTo("gyre: restarting in 3600 s");
            program.send(Signal.SIGINT);
            assertThat(program.status()).isEqualTo(130);
            assertThat(program.restOfErr())
                    .containsExactly("gyre: stopped by SIGINT during the restart pause");
        }
    }

    @Test
    void run_onATerminal_getsCtrlCOnceAndNoInput() throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/script")) || System.getenv("CI") != null,
                "no script(1), of util-linux or bsdutils, for a pseudo terminal");
        Path child =
                Files.writeString(
                        directory.resolve("child"),
                        """
                        cat
                        echo no input
                        n=0
                        trap 'n=$((n + 1)); echo got INT $n; test $n = 2 && exit 5' INT
                        echo ready
                        while :; do sleep 0.1; done
                        """);
        // script(1) takes one string for a shell, so the words are kept in a file. The shell gives
        // way to the program: some, like dash, would take Ctrl-C as their own end.
        Path words = directory.resolve("words");
        try (Program program =
                Program.inShell(
                        "printf \"'%s' \" exec \"$@\" >"
                                + words
                                + "; exec script -qec '. "
                                + words
                                + "' /dev/null",
                        "run",
                        "sh",
                        child.toString())) {
            awaitOut(program, "no input");
            awaitOut(program, "ready");
            program.type("\u0003");
            awaitOut(program, "stopping: SIGINT forwarded");
            awaitOut(program, "got INT 1");
            program.type("\u0003");
            awaitOut(program, "gyre: SIGINT forwarded");
            awaitOut(program, "got INT 2");
            awaitOut(program, "exited with 5");
            assertThat(program.status()).isEqualTo(5);
        }
    }

    /// The terminal shows the output of both, in an order that nobody promises.
    private static void awaitOut(Program program, String wanted) throws InterruptedException {
        String line = program.out();
        while (!line.contains(wanted)) {
            assertThat(line).as("instead of " + wanted).doesNotContain("end of output");
            line = program.out();
        }
    }

    // ------------------------------------------------------------------ input and output

    @Test
    void run_ofAFilter_passesInputOn() throws Exception {
        try (Program program = Program.start("run", "-q", "cat", "-")) {
            program.type("one\n");
            assertThat(program.out()).isEqualTo("one");
            program.endInput();
            assertThat(program.status()).isZero();
            assertThat(program.restOfErr()).isEmpty();
        }
    }

    @Test
    void run_argumentsThatLookLikeOurs_areTheCommands() throws Exception {
        try (Program program =
                Program.start(
                        "run", "-q", "echo", "-q", "--", "--restart", "@none", "$HOME", "'a'")) {
            assertThat(program.restOfOut()).containsExactly("-q -- --restart @none $HOME 'a'");
            assertThat(program.status()).isZero();
        }
    }

    // ------------------------------------------------------------------ ends

    @ParameterizedTest
    @CsvSource({
        "exit 0,      0",
        "exit 3,      3",
        "exit 255,    255",
        "kill -9 $$,  137",
        "kill -15 $$, 143"
    })
    void run_once_hasTheCommandsStatus(String script, int status) {
        Execution execution = Execution.of("run", "--restart", "never", "--", "sh", "-c", script);

        assertThat(execution.status()).isEqualTo(status);
        assertThat(execution.out()).isEmpty();
    }

    @Test
    void run_failing_isRestartedAfterGrowingPausesUpToTheLimit() {
        Execution execution =
                Execution.of("run", "--backoff=1", "--max-restarts=3", "sh", "-c", "exit 3");

        assertThat(execution.status()).isEqualTo(3);
        assertThat(execution.err().lines().filter(line -> !line.contains("process")))
                .containsExactly(
                        "gyre: restarting in 1 ms",
                        "gyre: restarting in 2 ms",
                        "gyre: restarting in 4 ms",
                        "gyre: giving up after 3 restarts");
        assertThat(execution.err().lines().filter(line -> line.contains("started"))).hasSize(4);
    }

    @Test
    void run_untilItSucceeds_endsThere() throws IOException {
        Path count = directory.resolve("count");
        String script = "echo x >>%s; test $(wc -l <%s) -ge 3".formatted(count, count);

        Execution execution = Execution.of("run", "-b", "1", "sh", "-c", script);

        assertThat(execution.status()).isZero();
        assertThat(Files.readAllLines(count)).hasSize(3);
    }

    @Test
    void run_notFound_is127AndNamesIt() {
        Execution execution = Execution.of("run", "-q", "no-such-command-here");

        assertThat(execution.status()).isEqualTo(127);
        assertThat(execution.err())
                .isEqualTo(
                        "gyre: cannot start 'no-such-command-here': ENOENT (2): no such command on"
                                + " the PATH\n");
    }

    @Test
    void run_notExecutable_is126AndSaysWhy() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));

        Execution execution = Execution.of("run", file.toString());

        assertThat(execution.status()).isEqualTo(126);
        assertThat(execution.err()).contains("gyre: cannot start", "EACCES", "x bit");
    }

    // ------------------------------------------------------------------ the command line

    @ParameterizedTest
    @CsvSource({
        "--restart=sometimes, must be never",
        "--backoff=-1,        must be from 0 to 86400000",
        "--max-backoff=1e9,   not an int",
        "--max-restarts=-1,   must be from 0",
        "--stop-timeout=-1,   must be from 0 to 86400",
        "--loud,              --loud"
    })
    void run_nonsense_isNamedAndNothingIsStarted(String option, String expected) {
        Path trace = directory.resolve("trace");

        Execution execution = Execution.of("run", option, "touch", trace.toString());

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains(option.replaceAll("=.*", ""), expected);
        assertThat(trace).doesNotExist();
    }

    @Test
    void run_ofNothing_isAMistake() {
        assertThat(Execution.of("run").status()).isEqualTo(2);
        assertThat(Execution.of("run", "").err()).contains("must not be empty");
    }

    @Test
    void run_onAnotherSystem_saysWhy() {
        Execution execution = Execution.on("Plan 9", "run", "true");

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.err()).contains("Plan 9", "gyre doctor");
    }

    @Test
    void hangUp_withoutATerminal_isNoReasonToStop() {
        assertThat(Run.stops(true)).contains(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);
        assertThat(Run.stops(false)).containsExactly(Signal.SIGINT, Signal.SIGTERM);
    }

    @Test
    void help_ofRun_explainsSignalsOptionsAndStatus() {
        Execution execution = Execution.of("help", "run");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains("--restart", "--backoff", "--max-restarts", "--stop-timeout", "--quiet")
                .contains("SIGHUP", "SIGUSR1", "SIGWINCH", "SIGCONT", "SIGUSR2", "SIGQUIT")
                .contains("/dev/null", "126", "127", "Exit status:", "Examples:");
    }
}
