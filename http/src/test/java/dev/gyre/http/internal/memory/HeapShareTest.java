package dev.gyre.http.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;

final class HeapShareTest {
    @Test
    void take_ofMoreThanIsLeft_takesNothing() {
        HeapShare share = new HeapShare(100);
        assertThat(share.take(60)).isTrue();
        assertThat(share.take(41)).as("of the 40 that are left").isFalse();
        assertThat(share.takenBytes()).isEqualTo(60);
        assertThat(share.take(40)).isTrue();
        share.give(100);
        assertThat(share.takenBytes()).isZero();
    }

    @Test
    void take_ofMoreThanThereCanBe_isRefused() {
        HeapShare share = new HeapShare(100);
        assertThat(share.take(1)).isTrue();
        assertThat(share.take(Long.MAX_VALUE)).as("the sum would overflow").isFalse();
    }

    @Test
    void share_isNeitherMoreThanNativeMemoryNorThanItsPartOfTheHeap() {
        Runtime machine = Runtime.getRuntime();
        try (EventLoop small = EventLoop.open(LoopConfig.DEFAULT.withBufferMemory(16 << 20));
                EventLoop large = EventLoop.open(LoopConfig.DEFAULT.withBufferMemory(1L << 40))) {
            long part = machine.maxMemory() / 4 / machine.availableProcessors();
            assertThat(HeapShare.of(small).limitBytes()).isEqualTo(Math.min(16 << 20, part));
            assertThat(HeapShare.of(large).limitBytes()).isEqualTo(part);
        }
    }
}
