package dev.gyre.bench.streams;

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

class NeighbourTableTest {
    @TempDir Path directory;

    @Test
    void ratio_ofSeveralRounds_isTheMedianOfThoseWithinEach() throws Exception {
        // By the medians of both columns p99 would be 2.5 times as long.
        write(
                "c.turns",
                "10000 20000 1000000 0 10000 20000 1000000 0",
                "10000 40000 1000000 0 20000 60000 1000000 0",
                "10000 10000 1000000 0 30000 50000 1000000 20000");

        assertThat(table("c").text().lines())
                .anyMatch(line -> line.matches("c +10.0 +20.0 +20.0 +50.0 +2.00 +1.50 +2 %"))
                .anyMatch(
                        line ->
                                line.equals(
                                        "Aim: beside 1000 hostile peers p99 is at most 1.5 × that"
                                                + " of a peer alone."))
                .noneMatch(line -> line.startsWith("Others used"));
    }

    @Test
    void table_whileOthersUsedTheCores_warns() throws Exception {
        write("c.turns", "10000 20000 1000000 0 10000 20000 1000000 300000");

        assertThat(table("c").text()).contains("Others used up to 30 % of a core");
    }

    @Test
    void json_ofATable_isOneLineWithEveryRound() throws Exception {
        write("c.turns", "10000 20000 1000000 0 10000 30000 1000000 0");
        write("other.declined", "no ring");

        assertThat(table("c", "other").json(Instant.EPOCH))
                .isEqualTo(
                        "{\"benchmark\":\"streams neighbours\",\"at\":\"1970-01-01T00:00:00Z\","
                                + "\"machine\":\"two cores\",\"peers\":1000,\"messages\":100,"
                                + "\"warmUp\":7,\"aim\":1.5,\"servers\":[{\"server\":\"c\","
                                + "\"aloneP50\":10.0,\"aloneP99\":20.0,\"besideP50\":10.0,"
                                + "\"besideP99\":30.0,\"ratioP50\":1.000,\"ratioP99\":1.500,"
                                + "\"othersShare\":0.000,\"rounds\":[1.500]},"
                                + "{\"server\":\"other\",\"absent\":\"not here: no ring\"}]}");
    }

    @Test
    void round_ofTooFewFigures_isRefused() {
        assertThatThrownBy(() -> NeighbourTable.Round.parse("1 2 3"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 2 3");
    }

    private void write(String name, String... lines) throws Exception {
        Files.write(directory.resolve(name), List.of(lines));
    }

    private NeighbourTable table(String... names) throws Exception {
        var settings = new Properties();
        settings.setProperty("machine", "two cores");
        settings.setProperty("peers", "1000");
        settings.setProperty("amount", "100");
        settings.setProperty("warmUp", "7");
        settings.setProperty("aim", "1.5");
        var servers = new ArrayList<NeighbourTable.Server>();
        for (String name : names) {
            servers.add(NeighbourTable.Server.read(directory, name));
        }
        return new NeighbourTable(settings, servers);
    }
}
