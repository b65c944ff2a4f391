package dev.gyre.internal.sys;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.BitSet;

class ThreadAffinityTest {
    @ParameterizedTest
    @CsvSource({
        "0 1 2 3, 2, 0 1",
        "0 1, 3, 0 1 0",
        "0 1, 5, 0 1 0 1 0",
        "1 2, 2, 2 1",
        "0 2, 2, 0 2",
        "0 2 4 5, 4, 0 5 2 4",
        "7, 2, 7 7",
        "64 65 130, 3, 130 64 65"
    })
    @Clause("G-1")
    void distribute_prefersTheProcessorsOfKernelByCpu(
            String processors, int threads, String expected) {
        BitSet allowed = new BitSet();
        Arrays.stream(numbers(processors)).forEach(allowed::set);
        assertThat(ThreadAffinity.distribute(allowed, threads)).isEqualTo(numbers(expected));
    }

    private static int[] numbers(String text) {
        return Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
    }
}
