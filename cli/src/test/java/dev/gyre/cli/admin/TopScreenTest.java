package dev.gyre.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.cli.admin.TopScreen.Line;
import dev.gyre.cli.admin.TopScreen.Style;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

final class TopScreenTest {
    private final TopScreen screen = new TopScreen("127.0.0.1:8081", false);

    private static Json loops(int second, double active, double idle, int requests, String rest) {
        return Json.parse(
                """
                {"time":"2026-11-18T12:00:%02dZ","pid":7,"version":"1.0","uptimeSeconds":90,
                 "loops":[{"name":"serve-0","state":"SLEEPING","responding":true,
                   "utilization":0.9,"activeSeconds":%s,"idleSeconds":%s,"requests":%d,
                   "taskDelay":{"p50":0.000025,"p99":0.0012,"max":3},"connections":12,
                   "queuedTasks":3,"bufferBytes":3100000,"bufferLimit":67000000,"running":null}%s]}
                """
                        .formatted(second, active, idle, requests, rest));
    }

    private static Json connections() {
        return Json.parse(
                """
                {"total":2,"notResponding":["serve-1"],"connections":[
                  {"id":1,"loop":"serve-0","peer":"10.0.0.1:5000","state":"READING",
                   "ageSeconds":300,"idleSeconds":1.5,"received":1234,"sent":99,"pending":0,
                   "activity":"GET /users/{id}"},
                  {"id":2,"loop":"serve-0","peer":"10.0.0.2:6000","state":"WRITING",
                   "ageSeconds":2,"idleSeconds":0,"received":0,"sent":2000000,"pending":10,
                   "activity":"evil \\u001b[2J\\u202e path"}]}
                """);
    }

    private List<String> drawn(int columns, int rows) {
        return screen.draw(columns, rows).stream().map(Line::text).toList();
    }

    private void type(String keys) {
        keys.chars().forEach(key -> assertThat(screen.press((char) key)).isTrue());
    }

    @Test
    void loops_haveRatesSinceThePreviousResponse() {
        screen.updateLoops(loops(0, 10, 10, 100, ""));
        screen.updateLoops(loops(2, 10.5, 11.5, 5100, ""));

        assertThat(drawn(80, 24))
                .hasSize(24)
                .allMatch(line -> line.length() <= 80)
                .startsWith(
                        "Gyre 1.0 at 127.0.0.1:8081, process 7, up 90s",
                        "12 connections, 2.5k requests/s, 3 queued, 3.1MB buffers",
                        "LOOP        BUSY DELAY50    P99    MAX   CONN  REQ/S  QUEUE      MEMORY"
                                + " RUNNING",
                        "serve-0      25%    25us  1.2ms   3.0s     12   2.5k      3    3.1M/67M"
                                + " sleeping")
                .endsWith("q quit   c connections   / filter connections");
    }

    @Test
    void loops_ofAnotherProcess_haveNoRates() {
        screen.updateLoops(loops(0, 10, 10, 100, ""));
        screen.updateLoops(
                Json.parse(
                        """
                        {"time":"2026-11-18T12:00:09Z","pid":8,
                         "loops":[{"name":"serve-0","requests":900,"utilization":0.9}]}
                        """));
        assertThat(drawn(80, 24).get(3)).startsWith("serve-0      90%").contains("     0      0");
    }

    @Test
    void loop_thatDoesNotRespond_isHighlightedWithWhatItRuns() {
        screen.updateLoops(
                loops(
                        0,
                        1,
                        1,
                        0,
                        """
                        ,{"name":"serve-1","state":"RUNNING","responding":false,"running":
                        {"kind":"IO","seconds":2.5,"description":"connection 4, GET /slow"}}
                        """));
        assertThat(screen.draw(80, 24))
                .filteredOn(line -> line.style() == Style.ALERT)
                .map(Line::text)
                .satisfiesExactly(
                        row -> assertThat(row).startsWith("serve-1").endsWith("io for 2"),
                        more ->
                                assertThat(more)
                                        .isEqualTo("  io for 2.5s: connection 4, GET /slow"));
        assertThat(drawn(80, 24).get(1)).endsWith("not responding: 1");
    }

    @ParameterizedTest
    @CsvSource({"59, 24", "80, 9", "1, 1"})
    void draw_onASmallTerminal_saysSo(int columns, int rows) {
        assertThat(drawn(columns, rows))
                .containsExactly(
                        "terminal %dx%d: too small".formatted(columns, rows),
                        "need 60x10; q quits");
    }

    @Test
    void draw_onANarrowTerminal_leavesOutColumns() {
        screen.updateLoops(loops(0, 1, 1, 0, ""));
        assertThat(drawn(60, 10).get(2))
                .contains("LOOP", "BUSY", "P99", "CONN")
                .doesNotContain("MAX");
        assertThat(drawn(60, 10)).allMatch(line -> line.length() <= 60).hasSize(10);
    }

    @Test
    void connections_showControlCharactersOfPeersAsQuestionMarks() {
        type("c");
        screen.updateLoops(loops(0, 1, 1, 0, ""));
        screen.updateConnections(connections());
        assertThat(screen.connectionsPath()).isEqualTo("/connections?limit=1000&sort=age");
        assertThat(drawn(120, 24))
                .contains("2 of 2 connections by age; not responding: serve-1")
                .anyMatch(line -> line.endsWith("5min   1.5s  1.2k    99       0 GET /users/{id}"))
                .anyMatch(line -> line.endsWith("evil ?[2J? path"));
    }

    @Test
    void keys_sortAndFilterConnections() {
        screen.updateLoops(loops(0, 1, 1, 0, ""));
        screen.updateConnections(connections());
        type("cs");
        assertThat(screen.connectionsPath()).endsWith("&sort=idle");
        type("/10.0.0.11\u007f");
        assertThat(drawn(80, 24)).last().asString().startsWith("filter: 10.0.0.1_ ");
        type("\r");
        assertThat(drawn(80, 24))
                .contains("2 of 2 connections by idle, filter: 10.0.0.1; not responding: serve-1");
        assertThat(screen.connectionsPath()).endsWith("&sort=idle&q=10.0.0.1");
        type("/zzz\u001b");
        assertThat(drawn(80, 24))
                .contains("2 of 2 connections by idle, filter: 10.0.0.1; not responding: serve-1");
        type("/\b\b\b\b\b\b\b\bGET /a&b\r");
        assertThat(screen.connectionsPath()).endsWith("&q=GET%20%2Fa%26b");
        type("l");
        assertThat(screen.connectionsPath()).isNull();
    }

    @Test
    void keys_thatQuit() {
        assertThat(screen.press('q')).isFalse();
        assertThat(screen.press((char) 3)).isFalse();
        type("/q");
        assertThat(screen.press((char) 3)).as("also while a filter is typed").isFalse();
    }

    @Test
    void fail_showsTheProblemAboveTheOldFigures_untilTheNextResponse() {
        screen.updateLoops(loops(0, 1, 1, 0, ""));
        screen.fail("No response since 12:00:01");
        assertThat(screen.draw(80, 24).get(2))
                .isEqualTo(new Line("No response since 12:00:01", Style.ALERT));
        assertThat(drawn(80, 24)).anyMatch(line -> line.startsWith("serve-0"));
        screen.updateLoops(loops(1, 1, 1, 0, ""));
        assertThat(drawn(80, 24)).noneMatch(line -> line.contains("No response"));
    }

    @Test
    void draw_withMoreRowsThanTheTerminal_saysHowManyAreHidden() {
        type("c");
        screen.updateLoops(loops(0, 1, 1, 0, ""));
        String one = "{\"id\":1},";
        screen.updateConnections(
                Json.parse("{\"total\":30,\"connections\":[" + one.repeat(29) + "{\"id\":2}]}"));
        assertThat(drawn(80, 10)).hasSize(10).contains("... 26 more lines");
    }
}
