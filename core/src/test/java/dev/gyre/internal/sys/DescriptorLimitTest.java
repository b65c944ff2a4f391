package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.internal.sys.FaultyKernel.Plan;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// The reserve of descriptors, and episodes of exhaustion with a clock that the test moves.
class DescriptorLimitTest {
    private final Plan plan = new Plan();
    private final DescriptorLimit limit = new DescriptorLimit(() -> new FaultyKernel(plan));
    private final LogCapture log = new LogCapture();

    @AfterEach
    void close() {
        log.close();
    }

    private static long seconds(double seconds) {
        return (long) (seconds * Duration.ofSeconds(1).toNanos());
    }

    @ParameterizedTest
    @CsvSource({"20, 18", "1024, 922", "1000000, 999488"})
    @Clause("E-3")
    void isReserved_lastTenthBelowTheLimit_isAndNoMoreThan512(int openFiles, int reserved) {
        plan.openFiles(openFiles);

        assertThat(limit.isReserved(reserved)).isTrue();
        assertThat(limit.isReserved(reserved - 1)).isFalse();
    }

    @Test
    @Clause("E-3")
    void isWithin_connectionsThatReachTheReserve_isTrue() {
        plan.openFiles(10_000);

        assertThat(limit.isWithin(4_096, 10_000 - 512 - 4_096)).isTrue();
        assertThat(limit.isWithin(4_096, 10_000 - 512 - 4_097)).isFalse();
    }

    @Test
    @Clause("E-3")
    void isReserved_limitChanged_isReadAgainOnlyAtTheReserve() {
        plan.openFiles(100);
        assertThat(limit.isReserved(90)).isTrue();
        plan.openFiles(200);
        assertThat(limit.isReserved(90)).isFalse();
        long asked = plan.count("getrlimit");
        for (int fd = 0; fd < 180; fd++) {
            assertThat(limit.isReserved(fd)).isFalse();
        }
        assertThat(plan.count("getrlimit")).isEqualTo(asked);
    }

    @Test
    @Clause("E-3")
    void isReserved_limitUnknownOrInfinite_isNothing() {
        plan.fail("getrlimit", Errno.EPERM);
        assertThat(limit.isReserved(1 << 20)).isFalse();
        plan.openFiles(Long.MAX_VALUE);
        assertThat(new DescriptorLimit(() -> new FaultyKernel(plan)).isReserved(1 << 20)).isFalse();
    }

    @Test
    @Clause({"E-3", "V-2"})
    void refused_untilNoneWasForFiveSeconds_isOneEpisode() {
        plan.openFiles(1024);
        assertThat(limit.refused("Listener[a] has stopped accepting", Errno.EMFILE, 0)).isTrue();
        limit.shed(1);
        for (int second = 1; second < 20; second++) {
            limit.acquired(seconds(second - 0.5));
            assertThat(limit.refused("Listener[b]", Errno.EMFILE, seconds(second))).isFalse();
            limit.shed(1);
        }
        assertThat(log.messages())
                .containsExactly(
                        "Listener[a] has stopped accepting: EMFILE, the process is at its limit of"
                                + " 1024 open files, 102 of which are kept for files and outgoing"
                                + " connections. Raise the limit (ulimit -n, LimitNOFILE= in"
                                + " systemd) or lower ListenerConfig.maxConnections.");

        limit.acquired(seconds(23.9));
        assertThat(log.messages()).hasSize(1);
        limit.acquired(seconds(24));
        limit.acquired(seconds(25));

        assertThat(log.messages())
                .last()
                .isEqualTo(
                        "Descriptors are available again, 24 s after they ran out; connections"
                                + " shed meanwhile: 20");
        assertThat(log.levels()).containsExactly("WARNING", "INFO");
        assertThat(limit.refused("Cannot open /a", Errno.EMFILE, seconds(26))).isTrue();
        assertThat(log.messages()).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({"23, fs.file-max", "105, memory limit", "12, memory limit"})
    @Clause("E-3")
    void refused_forAnotherLimit_namesItsRemedy(int errno, String remedy) {
        limit.refused("Listener[a]", errno, 0);
        assertThat(log.messages())
                .singleElement()
                .asString()
                .contains("Listener[a]: " + Errno.name(errno), remedy);
    }

    @Test
    @Clause({"V-2", "V-4"})
    void refused_andRecovered_areJfrEvents(@TempDir Path directory) throws IOException {
        plan.openFiles(1024);
        Path file = directory.resolve("recording.jfr");
        try (Recording recording = new Recording()) {
            recording.start();
            limit.refused("Listener[a]", Errno.EMFILE, 0);
            limit.refused("Listener[a]", Errno.EMFILE, seconds(1));
            limit.shed(2);
            limit.acquired(seconds(9));
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events =
                RecordingFile.readAllEvents(file).stream()
                        .filter(
                                event ->
                                        event.getEventType()
                                                .getName()
                                                .equals("dev.gyre.DescriptorExhaustion"))
                        .toList();
        assertThat(events).hasSize(2);
        assertThat(events.getFirst().getBoolean("recovered")).isFalse();
        assertThat(events.getFirst().getString("remedy")).contains("1024", "ulimit -n");
        assertThat(events.getLast().getBoolean("recovered")).isTrue();
        assertThat(events.getLast().getLong("shed")).isEqualTo(2);
        assertThat(events.getLast().getDuration("elapsed")).isEqualTo(Duration.ofSeconds(9));
    }
}
