package dev.gyre.http.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;

class DeadlineTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private int expired;
    private final Deadline deadline = new Deadline(world.loop(), () -> expired++);

    @AfterEach
    void close() {
        world.close();
    }

    private void advance(double seconds) {
        world.advance(Duration.ofNanos((long) (seconds * SECOND)));
    }

    @Test
    void in_movedWithEveryEvent_expiresOnce_afterTheLast() {
        for (int i = 0; i < 10; i++) {
            deadline.in(SECOND);
            advance(0.6);
        }
        assertThat(expired).isZero();
        assertThat(deadline.isArmed()).isTrue();
        advance(0.5);
        assertThat(expired).isEqualTo(1);
        assertThat(deadline.isArmed()).isFalse();
        advance(10);
        assertThat(expired).isEqualTo(1);
    }

    @Test
    void in_movedEarlier_expiresEarlier() {
        deadline.in(10 * SECOND);
        deadline.in(SECOND);
        advance(1.1);
        assertThat(expired).isEqualTo(1);
    }

    @Test
    void inAtMost_movesEarlier_andNeverLater() {
        deadline.inAtMost(2 * SECOND);
        deadline.inAtMost(5 * SECOND);
        advance(2.1);
        assertThat(expired).isEqualTo(1);
        deadline.in(5 * SECOND);
        deadline.inAtMost(SECOND);
        advance(1.1);
        assertThat(expired).isEqualTo(2);
    }

    @Test
    void disarm_andCancel_preventExpiry_untilArmedAgain() {
        deadline.in(SECOND);
        deadline.disarm();
        advance(2);
        deadline.in(SECOND);
        deadline.cancel();
        advance(2);
        assertThat(expired).isZero();
        deadline.in(SECOND);
        advance(1.1);
        assertThat(expired).isEqualTo(1);
    }

    @Test
    void nanos_ofAnEndlessTimeout_areLimited() {
        assertThat(Deadline.nanos(Duration.ofSeconds(Long.MAX_VALUE)))
                .isEqualTo(Duration.ofDays(36_500).toNanos());
        assertThat(Deadline.nanos(Duration.ofMillis(3))).isEqualTo(3_000_000);
    }
}
