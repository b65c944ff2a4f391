package dev.gyre.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.bench.AllocationCheck.Allocation;

import org.junit.jupiter.api.Test;

class AllocationTest {
    @Test
    void task_inSteadyState_allocatesNothing() {
        Allocation allocation = AllocationCheck.ofTasks();
        assertNothing(allocation, allocation.bytes());
    }

    @Test
    void tick_inSteadyState_allocatesNothing() {
        Allocation allocation = AllocationCheck.ofTicks();
        assertNothing(allocation, allocation.bytes());
    }

    @Test
    void wakeup_inSteadyState_allocatesNothing() {
        Allocation allocation = AllocationCheck.ofWakeups();
        // Not the caller's: the JDK slices the errno segment in every call, 40 bytes that C2
        // does not remove from a chain of calls it finds too deep.
        assertNothing(allocation, allocation.loopBytes());
    }

    private static void assertNothing(Allocation allocation, long bytes) {
        assertThat(bytes)
                .as(allocation.toString())
                .isLessThanOrEqualTo(AllocationCheck.NOISE_BYTES);
    }
}
