package dev.gyre.bench.streams;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

class RateTableTest {
    @TempDir Path directory;

    @Test
    void row_ofSeveralRounds_hasMedianBestAndRatios() throws Exception {
        write(
                "send.c.turns",
                "1000000000 2000000000 0",
                "2000000000 4000000000 0",
                "500000000 1000000000 0");
        write("send.other.turns", "4000000000 4000000000 40000000", "2000000000 2000000000 0");

        String text = table("GB", "1000000000", 4_000_000_000L, "send:c,other").text();

        assertThat(text.lines())
                .anyMatch(
                        line ->
                                line.matches(
                                        "send +GB/CPU s +best +× +× best +GB/s +× +core +others"))
                .anyMatch(
                        line -> line.matches("c +4.000 +8.000 +1.00 +1.00 +2.000 +1.00 +50 % +0 %"))
                .anyMatch(
                        line ->
                                line.matches(
                                        "other +1.333 +2.000 +0.33 +0.25 +1.500 +0.75 +100 % +1"
                                                + " %"));
        assertThat(text).contains("Aim: at least 0.90 × c,").doesNotContain("Others used");
    }

    @Test
    void rates_ofMessages_haveNoDecimals() throws Exception {
        write("proxy.haproxy.turns", "3000000000 4000000000 0");

        assertThat(table("messages", "1", 100, "proxy:haproxy").text().lines())
                .anyMatch(line -> line.matches("haproxy +33 +33 +1.00 +1.00 +25 +1.00 +75 % +0 %"));
    }

    @Test
    void table_whileOthersUsedTheCores_warns() throws Exception {
        write("send.c.turns", "4000000 5000000 2500000");

        assertThat(table("GB", "1000000000", 1_000, "send:c").text())
                .contains("Others used up to 50 % of a core");
    }

    @Test
    void groups_ofOneBenchmark_areComparedEachByItself() throws Exception {
        write("send.c.turns", "1000000000 1000000000 0");
        write("receive.c.turns", "2000000000 2000000000 0");
        write("receive.other.declined", "no \"ring\" here");

        RateTable table = table("GB", "1000000000", 1_000_000_000, "send:c", "receive:c,other");

        assertThat(table.text())
                .containsPattern(
                        "send .*\nc +1.000 .*\n\nreceive .*\nc +0.500 .*\nother +not here: no");
        assertThat(table.json(Instant.EPOCH))
                .isEqualTo(
                        "{\"benchmark\":\"streams test\",\"at\":\"1970-01-01T00:00:00Z\","
                                + "\"machine\":\"two cores\",\"unit\":\"GB\",\"amount\":1000000000,"
                                + "\"warmUp\":7,\"aim\":0.90,\"groups\":["
                                + "{\"group\":\"send\",\"programs\":["
                                + json("1.000")
                                + "]},{\"group\":\"receive\",\"programs\":["
                                + json("0.500")
                                + ",{\"program\":\"other\",\"absent\":\"not here: no \\\"ring\\\""
                                + " here\"}]}]}");
    }

    private static String json(String rate) {
        return String.format(
                "{\"program\":\"c\",\"perCpuSecond\":%1$s,\"bestPerCpuSecond\":%1$s,"
                        + "\"ratio\":1.000,\"bestRatio\":1.000,\"perSecond\":%1$s,"
                        + "\"wallRatio\":1.000,\"coreShare\":1.000,\"othersShare\":0.000,"
                        + "\"rounds\":[%1$s]}",
                rate);
    }

    private void write(String name, String... lines) throws Exception {
        Files.write(directory.resolve(name), List.of(lines));
    }

    private RateTable table(String unit, String unitAmount, long amount, String... groups)
            throws Exception {
        var settings = new Properties();
        settings.setProperty("benchmark", "streams test");
        settings.setProperty("machine", "two cores");
        settings.setProperty("unit", unit);
        settings.setProperty("unitAmount", unitAmount);
        settings.setProperty("amount", Long.toString(amount));
        settings.setProperty("warmUp", "7");
        settings.setProperty("aim", "0.90");
        var read = new ArrayList<RateTable.Group>();
        for (String group : groups) {
            read.add(RateTable.group(directory, settings, group));
        }
        return new RateTable(settings, read);
    }
}
