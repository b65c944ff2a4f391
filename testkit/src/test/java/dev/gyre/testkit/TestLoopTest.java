package dev.gyre.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

@On("simulated")
class TestLoopTest {
    @Test
    @Clause("B-6")
    void advance_firesTimersAtTheirTime() {
        try (var test = TestLoop.open()) {
            List<Duration> fired = new ArrayList<>();
            test.loop().every(Duration.ofMinutes(20), timer -> fired.add(test.elapsed()));
            test.advance(Duration.ofMinutes(59));
            assertThat(fired).containsExactly(Duration.ofMinutes(20), Duration.ofMinutes(40));
            test.advance(Duration.ofMinutes(1));
            assertThat(fired).hasSize(3);
        }
    }

    @Test
    @Clause("B-6")
    void run_doesWhatIsToBeDoneAndWaitsForNoTimer() {
        try (var test = TestLoop.open()) {
            List<String> log = new ArrayList<>();
            test.loop().after(Duration.ofSeconds(1), timer -> log.add("timer"));
            test.loop().submit(() -> log.add("task"));
            test.loop().promisify(cancellation -> log.add("work"));
            test.run();
            assertThat(log).containsExactly("task", "work");
            assertThat(test.elapsed()).isZero();
        }
    }

    @Test
    void advance_byANegativeDuration_isRefused() {
        try (var test = TestLoop.open()) {
            assertThatThrownBy(() -> test.advance(Duration.ofSeconds(-1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT-1S");
        }
    }
}
