package dev.gyre.bench.echo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.Scripts;
import dev.gyre.bench.Scripts.Outcome;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs `bench/echo` with counts so small that only its working shows, never a figure.
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class EchoTest {
    private static final List<String> SERVERS =
            List.of(
                    "c-epoll",
                    "ffm-epoll",
                    "netty-epoll",
                    "netty-uring",
                    "gyre-epoll",
                    "gyre-uring",
                    "stream-epoll",
                    "stream-uring");
    private static final String FIGURES = "( +\\d+\\.\\d\\d){4} +\\d+ +\\d+ % +\\d+ %";

    @Test
    void echo_ofAFewMessages_hasARowForEachServer() throws Exception {
        assumeTools();

        // Fewer, and a server in C may be done before the kernel has looked at its clock.
        Outcome outcome = echo("--rounds", "1", "--warm-up", "70", "--messages", "3000");

        outcome.assertSuccess();
        for (String server : SERVERS) {
            assertThat(outcome.lines())
                    .as("a row for %s, with figures or with why there are none", server)
                    .anyMatch(line -> line.matches(server + "( +not here: .+|" + FIGURES + ")"));
        }
        // These run on any Linux.
        for (String server : SERVERS.subList(0, 3)) {
            assertThat(outcome.lines())
                    .as("figures of %s", server)
                    .anyMatch(line -> line.matches(server + FIGURES));
        }
    }

    @Test
    void echo_atItsEnd_printsTheTableAsALineOfJson() throws Exception {
        assumeTools();

        Outcome outcome = echo("--rounds", "2", "--warm-up", "1", "--messages", "64", "gyre-epoll");

        outcome.assertSuccess();
        assertThat(outcome.lines().getLast())
                .startsWith("{\"benchmark\":\"echo\",\"at\":\"")
                .contains("\"connections\":64,\"bytes\":64,\"warmUps\":1,\"messages\":64,")
                .contains("{\"server\":\"c-epoll\",\"cpuMicros\":", "{\"server\":\"gyre-epoll\",")
                .endsWith("}]}");
    }

    @Test
    void echo_ofAServerThatFails_hasTheReasonInItsRowAndMeasuresTheOthers() throws Exception {
        assumeTools();

        Outcome outcome =
                echo(
                        "--rounds",
                        "1",
                        "--warm-up",
                        "1",
                        "--messages",
                        "3000",
                        "--jvm",
                        "-XX:+NoSuchFlag",
                        "ffm-epoll");

        outcome.assertSuccess();
        assertThat(outcome.lines())
                .anyMatch(line -> line.matches("c-epoll" + FIGURES))
                .anyMatch(line -> line.matches("ffm-epoll +failed: .+"));
    }

    @Test
    void echo_askedForHelp_tellsOfEveryServer() throws Exception {
        Outcome outcome = echo("--help");

        outcome.assertSuccess();
        assertThat(outcome.output()).contains(SERVERS).contains("--syscalls", "--jvm");
    }

    @Test
    void echo_ofWhatItDoesNotKnow_saysSo() throws Exception {
        echo("apache").assertRefused(2, "bench/echo: what is apache?");
        echo("--messages", "many")
                .assertRefused(2, "bench/echo: --messages needs a number, not 'many'");
        echo("--cores", "1")
                .assertRefused(2, "bench/echo: --cores needs two numbers, as in 0,1, not '1'");
    }

    @Test
    void echo_onOneCore_saysThatItNeedsTwo() throws Exception {
        assumeTools();
        String core = Scripts.allowedCores().getFirst();

        Outcome outcome = Scripts.runOnOneCore("echo");

        outcome.assertRefused(1, "bench/echo: two cores are needed");
        assertThat(outcome.output()).contains("--cores " + core + "," + core);
    }

    private static Outcome echo(String... arguments) throws Exception {
        return Scripts.run(List.of("echo"), arguments);
    }

    private static void assumeTools() {
        Scripts.assumeTools("cc", "taskset");
    }
}
