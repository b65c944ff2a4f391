package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.Scripts.Outcome;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.concurrent.TimeUnit;

/// What `bench/fairness` refuses and explains. A measurement needs `./gyre`, which a build has not made yet.
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class FairnessTest {
    @Test
    void fairness_ofWhatItDoesNotKnow_saysSo() throws Exception {
        fairness("gopher").assertRefused(2, "bench/fairness: what is gopher?");
        fairness("--peers", "0")
                .assertRefused(2, "bench/fairness: --peers needs a number, not '0'");
    }

    @Test
    void fairness_askedForHelp_tellsOfKindsAndOptions() throws Exception {
        Outcome outcome = fairness("--help");

        outcome.assertSuccess();
        assertThat(outcome.output())
                .contains("echo", "websocket", "post", "--messages", "--pause", "--class-path");
    }

    private static Outcome fairness(String... arguments) throws Exception {
        return Scripts.run(List.of("fairness"), arguments);
    }
}
