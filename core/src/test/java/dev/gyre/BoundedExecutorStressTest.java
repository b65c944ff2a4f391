package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/// Four producers that submit more than the limits permit, and remove some of it.
@Timeout(120)
class BoundedExecutorStressTest {
    private static final int PRODUCERS = 4;
    private static final int EACH = 10_000;
    private static final int AT_ONCE = 3;

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final AtomicInteger removed = new AtomicInteger();

    /// How often each unit of work ran or was removed.
    private final AtomicIntegerArray settled = new AtomicIntegerArray(PRODUCERS * EACH);

    private Runnable work(int number) {
        return () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            giveWay();
            settled.incrementAndGet(number);
            inside.decrementAndGet();
        };
    }

    private void produce(BoundedExecutor workers, int producer) {
        for (int i = 0; i < EACH; i++) {
            int number = producer * EACH + i;
            Runnable work = work(number);
            while (!isAccepted(workers, work)) {
                giveWay();
            }
            if (i % 3 == 0 && workers.remove(work)) {
                settled.incrementAndGet(number);
                removed.incrementAndGet();
            }
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // for more interleavings; nothing depends on it
    private static void giveWay() {
        Thread.yield();
    }

    private static boolean isAccepted(BoundedExecutor workers, Runnable work) {
        try {
            workers.execute(work);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private void produceAndSettle(BoundedExecutor workers) throws InterruptedException {
        List<Thread> producers = new ArrayList<>();
        for (int p = 0; p < PRODUCERS; p++) {
            int producer = p;
            producers.add(Thread.ofPlatform().start(() -> produce(workers, producer)));
        }
        for (Thread producer : producers) {
            producer.join();
        }
        while (workers.running() > 0) {
            giveWay();
        }
        assertThat(workers.waiting()).as("still waiting with all places free").isZero();
        assertThat(inside).hasValue(0);
        assertThat(most.get()).as("most at a time").isBetween(1, AT_ONCE);
        for (int i = 0; i < settled.length(); i++) {
            assertThat(settled.get(i)).as("work %d ran or was removed, once", i).isEqualTo(1);
        }
    }

    @Test
    @Clause({"P-2", "P-5"})
    void virtualThreads_underProducersThatRemove_runEachOnceAndNeverTooMany()
            throws InterruptedException {
        produceAndSettle(BoundedExecutor.bounded(AT_ONCE, 50));
    }

    @Test
    @Clause({"P-2", "P-5"})
    void poolWithoutAQueue_thatRefusesWhileAThreadIsAboutToEnd_losesNothing()
            throws InterruptedException {
        try (LogCapture silence = new LogCapture();
                ThreadPoolExecutor pool =
                        new ThreadPoolExecutor(
                                AT_ONCE, AT_ONCE, 1, TimeUnit.MINUTES, new SynchronousQueue<>())) {
            produceAndSettle(BoundedExecutor.bounded(pool, AT_ONCE, 50));
            assertThat(silence.messages()).allMatch(line -> line.contains("rejected"));
        }
    }

    @Test
    @Clause({"P-2", "P-5"})
    void callersThreads_asTheExecutor_loseNothing() throws InterruptedException {
        produceAndSettle(BoundedExecutor.bounded(Runnable::run, AT_ONCE, 50));
    }
}
