package dev.gyre.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Children of a JVM that was started without standard streams or with ignored signals.
class BareProcessTest {
    @TempDir private Path directory;

    private String run(String what) throws IOException {
        Path result = directory.resolve("result");
        Command command =
                Command.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-ea",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                BareProcess.class.getName(),
                                what,
                                result.toString())
                        .withOutput(Stdio.PIPE)
                        .withErrorToOutput();
        try (EventLoop loop = GuardedLoop.open()) {
            ChildProcess child = ChildProcess.start(loop, command);
            Collected output = Collected.from(loop, child.output());
            child.onExit(exit -> assertThat(exit.isSuccess()).as("%s", exit).isTrue());
            loop.runUntilEmpty();
            assertThat(result).as(output.text()).exists();
            return Files.readString(result);
        }
    }

    @Test
    @Clause("Y-1")
    void start_inAProcessWithoutStandardStreams_connectsEachPipeToItsStream() throws IOException {
        assertThat(run("without-streams").lines())
                .as("01 are the numbers where a pipe was opened once the streams were closed")
                .containsExactly("input", "error", "alone", "01", "alone", "input", "error");
    }

    @Test
    @Clause("Y-1")
    void start_inAProcessThatIgnoresItsChildren_tellsTheEndAndNotHow() throws IOException {
        String found = run("ignoring-children");
        assertThat(found).startsWith("[exited with unknown status] SigIgn:");
        long ignored = Long.parseUnsignedLong(found.substring(found.indexOf('\t') + 1).strip(), 16);
        assertThat(ignored & 1L << (Signal.SIGCHLD.number() - 1))
                .as("the child minds its own children")
                .isZero();
    }
}
