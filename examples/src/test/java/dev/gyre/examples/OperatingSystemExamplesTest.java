package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// The examples that need somebody at the other side: signals, files that change, input.
final class OperatingSystemExamplesTest {
    /// Those that are run here.
    static final Set<String> DRIVEN =
            Set.of("ChildOutput.java", "CtrlC.java", "Lines.java", "Supervisor.java", "Tail.java");

    /// Fails twice, then runs until it is asked to end.
    private static final String FICKLE =
            """
            echo run >> runs
            if [ "$(wc -l < runs)" -le 2 ]; then exit 3; fi
            trap 'kill $! 2> /dev/null; echo "asked to end"; exit 0' INT TERM
            echo up
            while true; do sleep 1000 & wait; done
            """;

    @TempDir Path directory;

    @Test
    void childOutput_aMillionBytesThroughCat_comeBack() throws Exception {
        try (var example = RunningExample.start(directory, "ChildOutput.java")) {
            // The end of its output and its own are two events, in either order.
            assertThat(example.ends())
                    .containsExactlyInAnyOrder(
                            "1000000 bytes came back, the same", "cat exited with 0");
        }
    }

    @Test
    void ctrlC_once_finishesTheBatchThatWasBegun() throws Exception {
        try (var example = RunningExample.start(directory, "CtrlC.java")) {
            example.says("working");
            example.interrupt();
            assertThat(example.ends())
                    .containsExactly(
                            "finishing; press Ctrl-C again to stop now", "finished, whole");
        }
    }

    @Test
    void ctrlC_twice_endsAtOnce() throws Exception {
        String batchWithoutEnd = Integer.toString(Integer.MAX_VALUE);
        try (var example = RunningExample.start(directory, "CtrlC.java", batchWithoutEnd)) {
            example.says("working");
            example.interrupt();
            example.says("finishing; press Ctrl-C again to stop now");
            example.interrupt();
            assertThat(example.endsWithComplaint()).containsExactly("dropped, in pieces");
            assertThat(example.complaint())
                    .contains("terminated with abandoned work", "deferred=1");
        }
    }

    @Test
    void lines_asTheyCome_areEchoedInUpperCaseUntilTheEnd() throws Exception {
        try (var example = RunningExample.start(directory, "Lines.java")) {
            example.hears("one\ntw");
            example.says("ONE");
            example.hears("o\nwithout an end");
            example.says("TWO");
            example.hearsNoMore();
            assertThat(example.ends()).containsExactly("WITHOUT AN END", "end of input");
        }
    }

    @Test
    void supervisor_ofAProgramThatFails_startsItAgainWithGrowingPausesAndPassesSignalsOn()
            throws Exception {
        Path program = Files.writeString(directory.resolve("fickle"), FICKLE);
        try (var example =
                RunningExample.start(directory, "Supervisor.java", "sh", program.toString())) {
            example.says(
                    "exited with 3; restarting in 100 ms",
                    "exited with 3; restarting in 200 ms",
                    "up");
            example.interrupt();
            assertThat(example.ends()).containsExactly("asked to end", "exited with 0");
        }
    }

    @Test
    void supervisor_ofAProgramThatIsNotThere_saysSoAndCanBeEndedBetweenTwoAttempts()
            throws Exception {
        try (var example = RunningExample.start(directory, "Supervisor.java", "./absent")) {
            assertThat(example.nextLine())
                    .startsWith("cannot start './absent': ENOENT")
                    .endsWith("; restarting in 100 ms");
            example.interrupt();
            assertThat(example.ends()).allMatch(line -> line.contains("restarting in"));
        }
    }

    @Test
    void tail_ofAFileThatGrowsIsRotatedAndTruncated_printsWhatIsAppended() throws Exception {
        Path log = Files.writeString(directory.resolve("log"), "there before\n");
        try (var example = RunningExample.start(directory, "Tail.java", "log")) {
            example.says("there before");
            Files.writeString(log, "appended\n", StandardOpenOption.APPEND);
            example.says("appended");

            Path old = Files.move(log, directory.resolve("log.1"));
            Files.writeString(old, "by one who has not noticed\n", StandardOpenOption.APPEND);
            Files.writeString(log, "after the rotation\n");
            example.says("by one who has not noticed", "after the rotation");

            Files.writeString(log, "truncated\n");
            example.says("truncated");

            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void tail_ofAFileThatIsNotThereYet_waitsForIt() throws Exception {
        Path log = directory.resolve("log");
        try (var example = RunningExample.start(directory, "Tail.java", "log")) {
            Files.writeString(log, "created\n");
            example.says("created");
            Files.delete(log);
            Files.writeString(log, "created again\n");
            example.says("created again");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }
}
