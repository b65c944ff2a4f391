package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// The examples of promises, and of the same program in three styles.
final class PromiseExamplesTest {
    /// One program, three times.
    static final List<String> STYLES =
            List.of(
                    "PricesWithCallbacks.java",
                    "PricesWithPromises.java",
                    "PricesWithThreads.java");

    /// Those that are run here.
    static final Set<String> DRIVEN = new TreeSet<>(STYLES);

    static {
        DRIVEN.addAll(List.of("Promises.java", "Bounded.java", "Cancelling.java"));
    }

    @TempDir Path directory;

    private List<String> output(String name) throws Exception {
        try (var example = RunningExample.start(directory, name)) {
            return example.ends();
        }
    }

    @ParameterizedTest
    @FieldSource("STYLES")
    void prices_inEachStyle_takeTheBestOfferFallBackAndKeepTheDeadline(String name)
            throws Exception {
        assertThat(output(name))
                .as("all three styles print the same: what is changed in one, change in all")
                .containsExactly(
                        "market failed (closed on Mondays): using its catalogue price",
                        "island did not respond in time",
                        "best offer: market");
    }

    @Test
    void promises_workStepsAndATimeout_reachTheThreadThatWaits() throws Exception {
        assertThat(output("Promises.java"))
                .containsExactly("started, no result yet", "4", "no letter", "no reply");
    }

    @Test
    void bounded_sixPieces_twoRunThreeWaitAndOneIsRefused() throws Exception {
        assertThat(output("Bounded.java"))
                .containsExactly(
                        "BoundedExecutor[2 of 2 running, 3 of 3 waiting]",
                        "copy 1",
                        "copy 2",
                        "copy 3",
                        "copy 4",
                        "copy 5",
                        "copy 6 rejected");
    }

    @Test
    void cancelling_byADeadlineAndByHand_saysWhy() throws Exception {
        assertThat(output("Cancelling.java"))
                .containsExactly(
                        "first search: the deadline of 100 ms passed",
                        "second search: the user left");
    }
}
