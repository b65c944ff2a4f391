package dev.gyre.http.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;

import org.junit.jupiter.api.Test;

final class ByteAccumulatorTest {
    private static final int KIB = 1 << 10;

    private final HeapBudget budget = new HeapBudget(1 << 20);

    private static Buffer data(int bytes) {
        Buffer data = Buffer.allocate(bytes);
        for (int i = 0; i < bytes; i++) {
            data.put((byte) i);
        }
        return data;
    }

    private static boolean append(ByteAccumulator to, int bytes) {
        return to.append(data(bytes), bytes);
    }

    @Test
    void append_inPieces_collectsThemInOrder() {
        ByteAccumulator all = new ByteAccumulator(budget, -1, 10_000);
        Buffer data = data(5_000);
        for (int piece : new int[] {1, 999, 3_000, 1_000}) {
            assertThat(all.append(data, piece)).isTrue();
        }
        assertThat(all.size()).isEqualTo(5_000);
        assertThat(all.toByteArray()).isEqualTo(data(5_000).getBytes());
    }

    @Test
    void append_withAnAnnouncedLength_trustsItOnlyAfter64KiB() {
        ByteAccumulator all = new ByteAccumulator(budget, 500 * KIB, 500 * KIB);
        assertThat(budget.usedBytes()).as("before the first byte").isZero();
        assertThat(append(all, 1)).isTrue();
        assertThat(budget.usedBytes()).isEqualTo(64 * KIB);
        assertThat(append(all, 64 * KIB)).isTrue();
        assertThat(budget.usedBytes()).isEqualTo(500 * KIB);
        byte[] array = all.array();
        assertThat(append(all, 400 * KIB)).isTrue();
        assertThat(all.array()).as("grows no more").isSameAs(array);
    }

    @Test
    void append_withoutALength_doublesUpToTheLimit() {
        ByteAccumulator all = new ByteAccumulator(budget, -1, 5 * KIB);
        for (int expected : new int[] {1, 2, 4, 4, 5}) {
            assertThat(append(all, KIB)).isTrue();
            assertThat(budget.usedBytes()).isEqualTo((long) expected * KIB);
        }
        assertThat(all.fits(1)).as("beyond the limit").isFalse();
        assertThat(all.fits(0)).isTrue();
    }

    @Test
    void append_beyondTheBudget_movesNothing_andReleaseReturnsAll() {
        ByteAccumulator all = new ByteAccumulator(budget, -1, 1 << 20);
        assertThat(append(all, 3 * KIB)).isTrue();
        long others = budget.limitBytes() - budget.usedBytes();
        assertThat(budget.tryAcquire(others)).isTrue();
        Buffer data = data(10);
        assertThat(all.append(data, 10)).isFalse();
        assertThat(data.readable()).isEqualTo(10);
        assertThat(all.size()).isEqualTo(3 * KIB);
        all.release();
        all.release();
        assertThat(budget.usedBytes()).isEqualTo(others);
    }

    @Test
    void release_withAPool_returnsTheArrayForTheNextOne() {
        try (EventLoop loop = EventLoop.open()) {
            ByteArrayPool pool = new ByteArrayPool(loop, () -> {});
            ByteAccumulator first = new ByteAccumulator(budget, pool, -1, 1 << 20);
            assertThat(append(first, 100 * KIB)).isTrue();
            byte[] array = first.array();
            first.release();
            assertThat(pool.pooledBytes()).isEqualTo(array.length);
            ByteAccumulator second = new ByteAccumulator(budget, pool, -1, 1 << 20);
            assertThat(append(second, 70 * KIB)).isTrue();
            assertThat(second.array()).isSameAs(array);
            second.release();
            assertThat(budget.usedBytes()).isZero();
        }
    }
}
