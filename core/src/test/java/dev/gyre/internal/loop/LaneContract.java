package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// What both lanes promise: properties P1 to P6 of clause Q-1.
abstract class LaneContract {
    /// A lane under test.
    interface Lane {
        boolean offer(Runnable task);

        @Nullable Runnable poll();

        boolean isEmpty();

        int depth();

        void close();
    }

    abstract Lane open();

    /// A task with a number.
    private record Numbered(int producer, int number) implements Runnable {
        @Override
        public void run() {}
    }

    @Example
    @Clause("Q-1")
    void poll_overManyChunks_isFirstInFirstOut() {
        Lane lane = open();
        for (int i = 0; i < 1_000; i++) {
            assertThat(lane.offer(new Numbered(0, i))).isTrue();
        }
        for (int i = 0; i < 1_000; i++) {
            assertThat(lane.depth()).isEqualTo(1_000 - i);
            assertThat(lane.poll()).isEqualTo(new Numbered(0, i));
        }
        assertThat(lane.poll()).isNull();
        assertThat(lane.isEmpty()).isTrue();
    }

    /// Positive: offer so many. Negative: poll so many.
    @Property(tries = 500)
    @Clause("Q-1")
    void lane_againstAModel_behavesLikeAQueue(
            @ForAll @Size(max = 60) List<@IntRange(min = -300, max = 300) Integer> program) {
        Lane lane = open();
        Deque<Runnable> model = new ArrayDeque<>();
        int next = 0;
        for (int step : program) {
            for (int i = 0; i < step; i++) {
                Runnable task = new Numbered(0, next++);
                model.add(task);
                assertThat(lane.offer(task)).isTrue();
            }
            for (int i = 0; i > step; i--) {
                assertThat(lane.poll()).isEqualTo(model.poll());
            }
            assertThat(lane.depth()).isEqualTo(model.size());
            assertThat(lane.isEmpty()).isEqualTo(model.isEmpty());
        }
        while (!model.isEmpty()) {
            assertThat(lane.poll()).isEqualTo(model.poll());
        }
        assertThat(lane.poll()).isNull();
    }

    @Example
    @Clause("Q-1")
    void poll_ofATask_leavesNothingReachable() throws InterruptedException {
        Lane lane = open();
        List<WeakReference<Runnable>> taken = new ArrayList<>();
        // More than two chunks, so that one has been recycled and one is still in use.
        for (int i = 0; i < 300; i++) {
            Runnable task = new Numbered(0, i);
            taken.add(new WeakReference<>(task));
            lane.offer(task);
        }
        for (int i = 0; i < 300; i++) {
            lane.poll();
        }
        long stillThere = awaitCollected(taken);
        assertThat(stillThere).as("tasks that the lane keeps alive").isZero();
        assertThat(lane.isEmpty()).isTrue();
    }

    private static long awaitCollected(List<WeakReference<Runnable>> references) {
        long alive = references.size();
        for (int attempt = 0; attempt < 50 && alive > 0; attempt++) {
            System.gc();
            alive = references.stream().filter(reference -> !reference.refersTo(null)).count();
        }
        return alive;
    }

    @Example
    @Clause("Q-1")
    void lane_withFourProducers_losesNothingAndKeepsEachProducersOrder()
            throws InterruptedException {
        int producers = 4;
        int each = 50_000;
        Lane lane = open();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        for (int p = 0; p < producers; p++) {
            int producer = p;
            threads.add(
                    Thread.ofPlatform()
                            .uncaughtExceptionHandler((thread, thrown) -> failures.add(thrown))
                            .start(
                                    () -> {
                                        awaitUnchecked(start);
                                        for (int i = 0; i < each; i++) {
                                            while (!lane.offer(new Numbered(producer, i))) {
                                                Thread.onSpinWait();
                                            }
                                        }
                                    }));
        }
        start.countDown();
        int[] expected = new int[producers];
        for (int received = 0; received < producers * each; ) {
            Numbered task = (Numbered) lane.poll();
            if (task == null) {
                Thread.onSpinWait();
                continue;
            }
            assertThat(task.number()).isEqualTo(expected[task.producer()]++);
            received++;
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
        assertThat(lane.poll()).isNull();
        assertThat(lane.depth()).isZero();
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Example
    @Clause({"Q-1", "Q-2"})
    void close_keepsWhatWasTakenAndRefusesTheRest() {
        Lane lane = open();
        for (int i = 0; i < 200; i++) {
            lane.offer(new Numbered(0, i));
        }
        lane.close();
        lane.close();
        assertThat(lane.offer(new Numbered(0, 200))).isFalse();
        for (int i = 0; i < 200; i++) {
            assertThat(lane.poll()).isEqualTo(new Numbered(0, i));
        }
        assertThat(lane.poll()).isNull();
    }
}
