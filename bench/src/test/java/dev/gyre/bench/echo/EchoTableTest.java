package dev.gyre.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

class EchoTableTest {
    private static final String SUMMARY =
            """
            % time     seconds  usecs/call     calls    errors syscall
            ------ ----------- ----------- --------- --------- ----------------
             73.75    0.497702          24      1000           sendto
             24.90    0.168058           8      1100       100 recvfrom
              0.01    0.000010           1         3           futex
            ------ ----------- ----------- --------- --------- ----------------
            100.00    0.674876          16      2103       100 total
            """;

    @TempDir Path directory;

    @Test
    void row_ofSeveralRounds_hasMedianLeastAndRatios() throws Exception {
        write("c-epoll.turns", "4000000 5000000 0", "2000000 4000000 0", "9000000 10000000 0");
        write("other.turns", "8000000 8000000 80000", "6000000 8000000 0");

        String text = table("c-epoll", "other").text();

        assertThat(text.lines())
                .anyMatch(
                        line -> line.matches("c-epoll +4.00 +2.00 +1.00 +1.00 +200000 +80 % +0 %"))
                .anyMatch(line -> line.matches("other +7.00 +6.00 +1.75 +3.00 +125000 +88 % +1 %"));
        assertThat(text).doesNotContain("system calls", "Others used");
    }

    @Test
    void table_whileOthersUsedTheCores_warns() throws Exception {
        write("c-epoll.turns", "4000000 5000000 2500000");

        assertThat(table("c-epoll").text()).contains("Others used up to 50 % of a core");
    }

    @Test
    void row_ofAServerThatDeclined_saysWhy() throws Exception {
        write("c-epoll.turns", "4000000 5000000 0");
        write("other.declined", "no \"ring\" here");

        EchoTable table = table("c-epoll", "other");

        assertThat(table.text()).contains("other          not here: no \"ring\" here\n");
        assertThat(table.json(Instant.EPOCH))
                .contains("{\"server\":\"other\",\"absent\":\"not here: no \\\"ring\\\" here\"}");
    }

    @Test
    void row_ofAServerThatFailed_saysWhyWhateverItMeasuredBefore() throws Exception {
        write("c-epoll.turns", "4000000 5000000 0");
        write("other.turns", "4000000 5000000 0");
        write("other.failed", "OutOfMemoryError");

        assertThat(table("c-epoll", "other").text())
                .contains("other          failed: OutOfMemoryError\n");
    }

    @Test
    void table_whoseFirstServerFailed_hasTheOthersWithoutRatios() throws Exception {
        write("c-epoll.failed", "no compiler");
        write("other.turns", "4000000 5000000 0");

        EchoTable table = table("c-epoll", "other");

        assertThat(table.text().lines())
                .contains("c-epoll        failed: no compiler")
                .anyMatch(line -> line.matches("other +4.00 +4.00 +NaN +NaN +200000 .*"));
        assertThat(table.json(Instant.EPOCH)).contains("\"ratio\":null,\"leastRatio\":null");
    }

    @Test
    void json_ofATable_isOneLineWithEveryRound() throws Exception {
        write("c-epoll.turns", "4000000 5000000 0", "2000000 4000000 40000");

        assertThat(table("c-epoll").json(Instant.EPOCH))
                .isEqualTo(
                        "{\"benchmark\":\"echo\",\"at\":\"1970-01-01T00:00:00Z\",\"machine\":\"two"
                            + " cores\","
                            + "\"connections\":64,\"bytes\":64,\"warmUps\":10,\"messages\":1000,"
                            + "\"servers\":[{\"server\":\"c-epoll\",\"cpuMicros\":3.000,"
                            + "\"leastCpuMicros\":2.000,\"ratio\":1.000,\"leastRatio\":1.000,"
                            + "\"messagesPerSecond\":225000,\"coreShare\":0.650,"
                            + "\"othersShare\":0.010,\"rounds\":[4.000,2.000]}]}");
    }

    @Test
    void systemCalls_counted_areShownByMessage() throws Exception {
        write("c-epoll.turns", "4000000 5000000 0");
        Files.writeString(directory.resolve("c-epoll.strace"), SUMMARY);

        EchoTable table = table("c-epoll");

        assertThat(table.text())
                .contains("c-epoll             2.10   recvfrom 1.10, sendto 1.00\n");
        assertThat(table.json(Instant.EPOCH)).contains("\"systemCalls\":2.103");
    }

    @Test
    void systemCalls_ofNoSummary_areRefused() {
        assertThatThrownBy(() -> SystemCalls.parse(List.of("strace: attach: denied"), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("attach: denied");
    }

    private void write(String name, String... lines) throws Exception {
        Files.write(directory.resolve(name), List.of(lines));
    }

    private EchoTable table(String... names) throws Exception {
        var settings = new Properties();
        settings.setProperty("machine", "two cores");
        settings.setProperty("connections", "64");
        settings.setProperty("warmUps", "10");
        settings.setProperty("messages", "1000");
        var servers = new ArrayList<Turns>();
        for (String name : names) {
            servers.add(Turns.read(directory, name, 1_000, 1_000));
        }
        return new EchoTable(settings, servers);
    }
}
