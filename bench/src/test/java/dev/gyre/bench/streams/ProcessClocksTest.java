package dev.gyre.bench.streams;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessClocksTest {
    @Test
    void cores_ofAListOfRanges_areAllOfThem() {
        assertThat(ProcessClocks.parseCores("0-3,8,10-11").toString())
                .isEqualTo("{0, 1, 2, 3, 8, 10, 11}");
    }

    @Test
    void clock_ofThisProcess_countsWhatItHasUsed() throws Exception {
        ProcessClocks clocks = ProcessClocks.of(Long.toString(ProcessHandle.current().pid()));
        ProcessClocks.Reading begun = clocks.read();
        ProcessClocks.Reading ended = begun;
        // Reading is work, too.
        for (int i = 0; i < 1_000 && ended.measured() == begun.measured(); i++) {
            ended = clocks.read();
        }

        assertThat(ended.measured()).isGreaterThan(begun.measured());
        assertThat(ended.since(begun)).matches("\\d+ \\d+ \\d+");
    }

    @Test
    void others_thanTheKnownProcesses_areNeverLessThanNobody() {
        var begun = new ProcessClocks.Reading(0, 0, 0, 0);

        assertThat(new ProcessClocks.Reading(1, 30, 4, 20).since(begun)).isEqualTo("1 4 0");
        assertThat(new ProcessClocks.Reading(1, 10, 4, 15).since(begun)).isEqualTo("1 4 5");
    }
}
