package dev.gyre.http.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;

final class HeapBudgetTest {
    @Test
    void acquire_ofMoreThanIsLeft_acquiresNothing() {
        HeapBudget budget = new HeapBudget(100);
        assertThat(budget.tryAcquire(60)).isTrue();
        assertThat(budget.tryAcquire(41)).as("of the 40 that are left").isFalse();
        assertThat(budget.usedBytes()).isEqualTo(60);
        assertThat(budget.tryAcquire(40)).isTrue();
        budget.release(100);
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void acquire_ofMoreThanThereCanBe_isRefused() {
        HeapBudget budget = new HeapBudget(100);
        assertThat(budget.tryAcquire(1)).isTrue();
        assertThat(budget.tryAcquire(Long.MAX_VALUE)).as("the sum would overflow").isFalse();
    }

    @Test
    void limit_isAPartOfTheHeap_withinTheLoopsMemory_andEnoughForOneClient() {
        assertThat(HeapBudget.limit(4L << 30, 4, 1L << 30)).isEqualTo(256 << 20);
        assertThat(HeapBudget.limit(4L << 30, 4, 100 << 20)).isEqualTo(100 << 20);
        assertThat(HeapBudget.limit(256 << 20, 64, 1L << 30)).isEqualTo(HeapBudget.MIN_BYTES);
        assertThat(HeapBudget.limit(32 << 20, 64, 1L << 30))
                .as("of a small heap")
                .isEqualTo(4 << 20);
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBufferMemory(16 << 20))) {
            assertThat(HeapBudget.of(loop).limitBytes()).isLessThanOrEqualTo(16 << 20);
        }
    }

    @Test
    void of_theSameLoop_isOneBudget_andOfAnotherLoopAnotherOne() {
        try (EventLoop one = EventLoop.open();
                EventLoop another = EventLoop.open()) {
            assertThat(HeapBudget.of(one)).isSameAs(HeapBudget.of(one));
            assertThat(HeapBudget.of(another)).isNotSameAs(HeapBudget.of(one));
        }
    }

    @Test
    void of_loopThatWasClosed_doesNotKeepItAlive() {
        WeakReference<EventLoop> collected = closedLoop();
        for (int i = 0; i < 50 && collected.get() != null; i++) {
            System.gc();
        }
        assertThat(collected.get()).as("the loop, after garbage collection").isNull();
    }

    private static WeakReference<EventLoop> closedLoop() {
        EventLoop loop = EventLoop.open();
        assertThat(HeapBudget.of(loop).usedBytes()).isZero();
        loop.close();
        return new WeakReference<>(loop);
    }
}
