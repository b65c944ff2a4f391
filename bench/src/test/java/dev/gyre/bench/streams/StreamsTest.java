package dev.gyre.bench.streams;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.Scripts;
import dev.gyre.bench.Scripts.Outcome;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// Runs `bench/streams` with counts so small that only its working shows, never a figure; of each mode the program
/// that others are compared with, and ours over epoll. With the system property `gyre.bench` set to `all`, all.
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class StreamsTest {
    private static final boolean ALL = System.getProperty("gyre.bench", "").equals("all");
    private static final String RATIO = " +\\d+\\.\\d\\d";
    private static final String GIGABYTES = " +\\d+\\.\\d{3}";
    private static final String SHARES = " +\\d+ % +\\d+ %";

    @Test
    void echo_ofAFewMessages_comparesWithCAndNetty() throws Exception {
        assumeTools();

        Outcome outcome = streams("echo", "--rounds", "1", "--warm-up", "70", "--messages", "3000");

        assertRows(
                outcome,
                "(" + RATIO + "){4} +\\d+" + SHARES,
                List.of("c-epoll", "stream-epoll", "stream-uring", "netty-epoll"));
    }

    @Test
    void bulk_ofAMegabyte_isSentAndReceived() throws Exception {
        assumeTools();

        List<String> programs =
                chosen(
                        "c-epoll",
                        "gyre-epoll",
                        "gyre-uring",
                        "gyre-epoll-write",
                        "gyre-epoll-lend",
                        "gyre-uring-write",
                        "gyre-uring-lend");

        Outcome outcome =
                streams(
                        "bulk",
                        programs,
                        "--rounds",
                        "1",
                        "--warm-up",
                        "1",
                        "--megabytes",
                        "1",
                        "64KiB");

        assertRows(outcome, gigabytes(), programs);
    }

    @Test
    void proxy_ofAFewMessages_comparesWithHaproxy() throws Exception {
        assumeTools("haproxy");

        List<String> programs = chosen("haproxy", "gyre-epoll", "gyre-uring");

        Outcome outcome =
                streams(
                        "proxy",
                        programs,
                        "--rounds",
                        "1",
                        "--warm-up",
                        "70",
                        "--messages",
                        "3000");

        assertRows(outcome, " +\\d+ +\\d+" + RATIO + RATIO + " +\\d+" + RATIO + SHARES, programs);
    }

    @Test
    void tls_ofAMegabyte_comparesWithTheEngine() throws Exception {
        assumeTools();

        List<String> programs = chosen("ssl-engine", "gyre-epoll", "gyre-uring");

        Outcome outcome =
                streams(
                        "tls",
                        programs,
                        "--rounds",
                        "1",
                        "--warm-up",
                        "1",
                        "--megabytes",
                        "1",
                        "AES-256");

        assertRows(outcome, gigabytes(), programs);
    }

    @Test
    void neighbours_ofAFewHostilePeers_showsBothLatencies() throws Exception {
        assumeTools("chrt");

        List<String> programs = chosen("c-epoll", "gyre-epoll", "gyre-uring");

        Outcome outcome =
                streams(
                        "neighbours",
                        programs,
                        "--rounds",
                        "1",
                        "--warm-up",
                        "70",
                        "--messages",
                        "100",
                        "--peers",
                        "8");

        assertRows(outcome, "( +\\d+\\.\\d){4}" + RATIO + RATIO + " +\\d+ %", programs);
        assertThat(outcome.lines())
                .filteredOn(line -> line.contains(" µs alone, "))
                .as("what the hostile peers have done to each server")
                .isNotEmpty()
                .allMatch(
                        line ->
                                line.matches(
                                        ".*; [1-9]\\d* bytes one at a time, [1-9]\\d* bytes never"
                                                + " read, [1-9]\\d* resets"));
    }

    @Test
    void streams_atItsEnd_printsTheTableAsALineOfJson() throws Exception {
        assumeTools();

        Outcome outcome =
                streams(
                        "bulk",
                        "--rounds",
                        "1",
                        "--warm-up",
                        "1",
                        "--megabytes",
                        "1",
                        "16KiB",
                        "gyre-epoll");

        outcome.assertSuccess();
        assertThat(outcome.lines().getLast())
                .startsWith("{\"benchmark\":\"streams bulk\",\"at\":\"")
                .contains("\"unit\":\"GB\",\"amount\":1048576,\"warmUp\":1,\"aim\":0.90,")
                .contains("{\"group\":\"receive-16KiB\",\"programs\":[{\"program\":\"c-epoll\",")
                .contains("{\"program\":\"gyre-epoll\",\"perCpuSecond\":")
                .doesNotContain("64KiB", "gyre-uring")
                .endsWith("]}]}");
    }

    @Test
    void streams_askedForHelp_tellsOfEveryModeAndProgram() throws Exception {
        Outcome outcome = Scripts.run(List.of("streams", "--help"));

        outcome.assertSuccess();
        assertThat(outcome.output())
                .contains("echo", "bulk", "proxy", "tls", "neighbours", "all")
                .contains("haproxy gyre-epoll gyre-uring 1KiB", "gyre-uring-lend 64KiB 16KiB")
                .contains("--peers", "--class-path");
    }

    @Test
    void streams_ofWhatItDoesNotKnow_saysSo() throws Exception {
        streams("").assertRefused(2, "bench/streams: which of echo bulk proxy tls neighbours?");
        streams("carrier").assertRefused(2, "bench/streams: what is carrier?");
        streams("tls", "64KiB").assertRefused(2, "bench/streams: what is 64KiB? tls has");
        streams("bulk", "--megabytes", "0")
                .assertRefused(2, "bench/streams: --megabytes needs a number, not '0'");
    }

    private static String gigabytes() {
        return GIGABYTES + GIGABYTES + RATIO + RATIO + GIGABYTES + RATIO + SHARES;
    }

    /// With figures; or, where the machine has no io_uring, with why there are none.
    private static void assertRows(Outcome outcome, String figures, List<String> names) {
        outcome.assertSuccess();
        for (String name : names) {
            String row = name.contains("uring") ? "( +not here: .+|" + figures + ")" : figures;
            assertThat(outcome.lines())
                    .as("a row for %s", name)
                    .anyMatch(line -> line.matches(name + row));
        }
    }

    /// Each of these starts a JVM or two.
    private static List<String> chosen(String... programs) {
        return Stream.of(programs).filter(name -> ALL || !name.contains("uring")).toList();
    }

    private static Outcome streams(String mode, List<String> programs, String... arguments)
            throws Exception {
        return streams(
                mode,
                Stream.concat(Stream.of(arguments), programs.stream()).toArray(String[]::new));
    }

    private static Outcome streams(String mode, String... arguments) throws Exception {
        return Scripts.run(List.of("streams", mode), arguments);
    }

    private static void assumeTools(String... more) {
        Scripts.assumeTools("cc", "taskset");
        Scripts.assumeTools(more);
    }
}
