package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.Scripts.Outcome;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs `bench/http` so shortly that only its working shows, with the servers that need no build.
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class HttpTest {
    @Test
    void plaintext_ofASecond_comparesWithTheFloor() throws Exception {
        Scripts.assumeTools("cc", "taskset", "wrk", "nginx");

        Outcome outcome =
                Scripts.run(
                        List.of("http", "plaintext", "floor", "nginx"),
                        "--rounds",
                        "1",
                        "--seconds",
                        "1",
                        "--warm-up",
                        "1",
                        "--connections",
                        "4");

        outcome.assertSuccess();
        assertThat(outcome.lines())
                .as("a row for each server, once for one request under way and once for 16")
                .filteredOn(line -> line.matches("(floor|nginx)( +\\d+\\.\\d\\d){3} +\\d+ .*"))
                .hasSize(4);
        assertThat(outcome.lines().getLast())
                .startsWith("{\"benchmark\":\"http plaintext\",\"machine\":\"")
                .contains(
                        "\"case\":\"/plaintext, 4 connections, 16 under"
                                + " way\",\"server\":\"nginx\"");
    }

    @Test
    void http_ofWhatItDoesNotKnow_saysSo() throws Exception {
        http("").assertRefused(2, "bench/http: plaintext or files?");
        http("gopher").assertRefused(2, "bench/http: what is gopher?");
        http("files", "floor")
                .assertRefused(2, "bench/http: what is floor? files has nginx gyre-epoll");
        http("files", "--seconds", "0")
                .assertRefused(2, "bench/http: --seconds needs a number, not '0'");
    }

    @Test
    void http_askedForHelp_tellsOfModesAndServers() throws Exception {
        Outcome outcome = http("--help");

        outcome.assertSuccess();
        assertThat(outcome.output())
                .contains("plaintext", "files", "floor nginx gyre-epoll gyre-uring", "--pipeline");
    }

    private static Outcome http(String mode, String... arguments) throws Exception {
        return Scripts.run(List.of("http", mode), arguments);
    }
}
