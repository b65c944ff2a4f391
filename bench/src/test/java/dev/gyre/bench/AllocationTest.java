package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.AllocationCheck.Allocation;

import org.junit.jupiter.api.Test;

class AllocationTest {
    @Test
    void task_inSteadyState_allocatesNothing() {
        assertAllocatesNothing(AllocationCheck.ofTasks());
    }

    @Test
    void tick_inSteadyState_allocatesNothing() {
        assertAllocatesNothing(AllocationCheck.ofTicks());
    }

    @Test
    void wakeup_inSteadyState_allocatesNothing() {
        assertAllocatesNothing(AllocationCheck.ofWakeups());
    }

    private static void assertAllocatesNothing(Allocation allocation) {
        assertThat(allocation.bytes())
                .as(allocation.toString())
                .isLessThanOrEqualTo(AllocationCheck.NOISE_BYTES);
    }
}
