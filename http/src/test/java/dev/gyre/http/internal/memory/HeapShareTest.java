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
    void share_isAPartOfTheHeap_withinWhatTheLoopHas_andEnoughForOne() {
        assertThat(HeapShare.limit(4L << 30, 4, 1L << 30)).isEqualTo(256 << 20);
        assertThat(HeapShare.limit(4L << 30, 4, 100 << 20)).isEqualTo(100 << 20);
        assertThat(HeapShare.limit(256 << 20, 64, 1L << 30)).isEqualTo(HeapShare.LEAST_BYTES);
        assertThat(HeapShare.limit(32 << 20, 64, 1L << 30))
                .as("of a small heap")
                .isEqualTo(4 << 20);
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBufferMemory(16 << 20))) {
            assertThat(HeapShare.of(loop).limitBytes()).isLessThanOrEqualTo(16 << 20);
        }
    }
}
