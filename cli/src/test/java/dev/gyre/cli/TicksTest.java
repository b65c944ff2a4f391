package dev.gyre.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;

final class TicksTest {
    private static final String LATENCY = "\\d+(\\.\\d+)? (ns|us|ms|s)";
    private static final String LATENCIES =
            "p50 " + LATENCY + ", p99 " + LATENCY + ", max " + LATENCY;

    @Test
    @Timeout(30)
    void ticks_forASecond_showsALineForEachRefreshAndTheSummary() {
        Execution execution =
                Execution.of("ticks", "--seconds", "1", "--every", "300", "--load", "2000");

        assertThat(execution.err()).isEmpty();
        assertThat(execution.status()).isZero();
        List<String> lines = execution.lines();
        assertThat(lines.getFirst())
                .contains("ticks/s", "wake p50", "wake p99", "late p50", "late max")
                .contains("depth", "wakes/s", "tasks/s");
        // 300, 600, 900 and 1 000 ms. A dash is right where a busy machine left no sample.
        assertThat(lines.subList(1, 5))
                .allMatch(
                        line ->
                                line.matches(
                                        "\\s*\\d\\.\\d\\ds\\s+\\d+(\\s+(-|%s)){4}(\\s+\\d+){3}"
                                                .formatted(LATENCY)));
        assertThat(lines.subList(5, lines.size()))
                .satisfiesExactly(
                        line -> assertThat(line).isEmpty(),
                        line -> assertThat(line).matches("Over \\d\\.\\d s"),
                        line -> assertThat(line).matches("  ticks +[1-9]\\d*/s, \\d+ in total"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  wake latency +"
                                                        + LATENCIES
                                                        + ", of \\d+ samples"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  timer lateness +"
                                                        + LATENCIES
                                                        + ", of \\d+ firings"),
                        line -> assertThat(line).matches("  queue depth +max \\d+"),
                        line -> assertThat(line).matches("  wake-ups +[1-9]\\d*/s, \\d+ in total"),
                        line ->
                                assertThat(line)
                                        .matches(
                                                "  tasks +[1-9]\\d*/s, \\d+ in total, \\d+"
                                                        + " rejected"));
    }

    @ParameterizedTest
    @EnumSource(names = {"SIGHUP", "SIGINT", "SIGTERM"})
    void ticks_askedToEnd_endsWithTheSummaryAndTheSignalsStatus(Signal signal) throws Exception {
        try (Program program = Program.start("ticks", "--seconds", "3600")) {
            assertThat(program.out()).contains("ticks/s");
            program.send(signal);
            assertThat(program.restOfOut())
                    .anyMatch(line -> line.startsWith("Over "))
                    .last()
                    .asString()
                    .endsWith("rejected");
            assertThat(program.restOfErr()).isEmpty();
            assertThat(program.status()).isEqualTo(128 + signal.number());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--seconds, 0,       must be from 1 to 86400",
        "--seconds, -5,      must be from 1 to 86400",
        "--seconds, 1e3,     not an int",
        "--seconds, 86401,   must be from 1 to 86400",
        "--every,   0,       must be from 20 to 60000",
        "--every,   60001,   must be from 20 to 60000",
        "--every,   soon,    not an int",
        "--every,   5001,    longer than the run of 5 s",
        "--load,    -1,      must be from 0 to 1000000",
        "--load,    1000001, must be from 0 to 1000000"
    })
    void ticks_nonsense_isNamedWithItsOption(String option, String value, String expected) {
        Execution execution = Execution.of("ticks", option, value);

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err().lines().findFirst().orElse(""))
                .contains(option, value, expected);
    }

    @Test
    void ticks_unknownOption_isNamed() {
        Execution execution = Execution.of("ticks", "--minutes", "1");

        assertThat(execution.status()).isEqualTo(2);
        assertThat(execution.err()).contains("--minutes");
    }

    @Test
    void ticks_onAnotherSystem_saysWhy() {
        Execution execution = Execution.on("Plan 9", "ticks");

        assertThat(execution.status()).isEqualTo(1);
        assertThat(execution.out()).isEmpty();
        assertThat(execution.err()).contains("event loop failed", "Plan 9", "gyre doctor");
    }

    @Test
    void help_ofTicks_explainsEveryFigureAndOption() {
        Execution execution = Execution.of("help", "ticks");

        assertThat(execution.status()).isZero();
        assertThat(execution.out())
                .contains(LoopSample.HEADER.strip().split("\\s{2,}| (?=tasks)"))
                .contains("--seconds", "--every", "--load")
                .contains("Exit status:", "Examples:");
    }
}
