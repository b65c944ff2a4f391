package dev.gyre.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

class TaskRingTest {
    /// Positive: adds that many. Negative: dequeues that many. Zero: trims.
    @Property(tries = 500)
    @Clause("M-3")
    void ring_againstAModel_behavesLikeAQueue(
            @ForAll @Size(max = 60) List<@IntRange(min = -300, max = 300) Integer> program) {
        TaskRing ring = new TaskRing("tasks");
        Deque<Runnable> model = new ArrayDeque<>();
        for (int step : program) {
            for (int i = 0; i < step; i++) {
                String name = "task";
                Runnable task = () -> assertThat(name).isNotEmpty();
                model.add(task);
                ring.add(task);
            }
            for (int i = 0; i > step && !model.isEmpty(); i--) {
                assertThat(ring.take()).isSameAs(model.poll());
            }
            if (step == 0) {
                ring.trim();
            }
            assertThat(ring.size()).isEqualTo(model.size());
        }
        while (!model.isEmpty()) {
            assertThat(ring.take()).isSameAs(model.poll());
        }
        assertThat(ring.isEmpty()).isTrue();
    }

    @Example
    @Clause("M-3")
    void trim_afterABurst_shrinksTheArrayStepByStep() {
        TaskRing ring = new TaskRing("tasks");
        for (int i = 0; i < 10_000; i++) {
            ring.add(() -> {});
        }
        assertThat(ring.capacity()).isEqualTo(16_384);
        assertThat(ring.size()).isEqualTo(10_000);
        ring.clear();
        for (int i = 0; i < 20; i++) {
            ring.trim();
        }
        assertThat(ring.capacity()).isEqualTo(TaskRing.MIN_CAPACITY);
    }

    @Example
    @Clause("M-3")
    void trim_underSteadyLoad_keepsTheArray() {
        TaskRing ring = new TaskRing("tasks");
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 1_000; i++) {
                ring.add(() -> {});
            }
            ring.clear();
            ring.trim();
            assertThat(ring.capacity()).isEqualTo(1_024);
        }
    }

    @Example
    @Clause("M-3")
    void take_nullsTheSlot() {
        TaskRing ring = new TaskRing("tasks");
        Runnable task = new Thread(() -> {});
        WeakReference<Runnable> reference = new WeakReference<>(task);
        ring.add(task);
        ring.take();
        task = null;
        for (int attempt = 0; attempt < 50 && !reference.refersTo(null); attempt++) {
            System.gc();
        }
        assertThat(reference.refersTo(null)).as("the ring keeps a taken task alive").isTrue();
        assertThat(ring.isEmpty()).isTrue();
    }

    @Example
    @Clause("M-1")
    void forEachSince_anEarlierLook_showsWhatCameAfterItAndIsStillThere() {
        TaskRing ring = new TaskRing("tasks");
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            tasks.add(new Thread());
        }
        tasks.subList(0, 100).forEach(ring::add);
        List<Runnable> seen = new ArrayList<>();
        long first = ring.forEachSince(0, seen::add);
        assertThat(seen).isEqualTo(tasks.subList(0, 100));
        tasks.subList(100, 200).forEach(ring::add);
        for (int i = 0; i < 50; i++) {
            ring.take();
        }
        seen.clear();
        long second = ring.forEachSince(first, seen::add);
        assertThat(seen).isEqualTo(tasks.subList(100, 200));
        for (int i = 50; i < 150; i++) {
            ring.take();
        }
        seen.clear();
        assertThat(ring.forEachSince(first, seen::add)).isEqualTo(second);
        assertThat(seen).isEqualTo(tasks.subList(150, 200));
        seen.clear();
        ring.forEachSince(second, seen::add);
        assertThat(seen).isEmpty();
    }
}
