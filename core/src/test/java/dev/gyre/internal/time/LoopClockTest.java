package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicLong;

class LoopClockTest {
    @Test
    @Clause("L-6")
    void nanos_keepsTheLastUpdate_alsoAcrossTheSourcesWrapAround() {
        AtomicLong source = new AtomicLong(Long.MAX_VALUE - 5);
        LoopClock clock = new LoopClock(source::get);
        assertThat(clock.nanos()).isEqualTo(Long.MAX_VALUE - 5);
        source.addAndGet(10);
        assertThat(clock.nanos()).isEqualTo(Long.MAX_VALUE - 5);
        clock.update();
        assertThat(clock.nanos()).isEqualTo(Long.MIN_VALUE + 4);
    }

    @Test
    @Clause("L-6")
    void update_withASourceThatGoesBack_standsStill() {
        AtomicLong source = new AtomicLong(100);
        LoopClock clock = new LoopClock(source::get);
        source.set(200);
        clock.update();
        source.set(150);
        clock.update();
        assertThat(clock.nanos()).isEqualTo(200);
    }
}
