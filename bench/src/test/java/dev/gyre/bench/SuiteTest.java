package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.timers.TimerBenchmark;
import dev.gyre.bench.timers.Timers;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

class SuiteTest {
    @Test
    void peer_withoutEnoughMemory_hasTheReasonInItsRow() {
        var starved =
                new Suite.Row(
                        "starved",
                        TimerBenchmark.class,
                        "scheduleAndCancel",
                        Map.of("peer", Timers.EXECUTOR, "count", "1000000"),
                        List.of("-Xms8m", "-Xmx8m", "-XX:+UseSerialGC"));
        var result = new Suite.Result();

        Suite.measure(starved, Suite.Figure.TIME, result);

        var table = new Suite.Table("timers", Suite.Figure.TIME, 0, List.of(starved));
        assertThat(Suite.text(table, List.of(result)).lines().toList().getLast())
                .matches("starved +failed: .*OutOfMemoryError.*");
    }
}
