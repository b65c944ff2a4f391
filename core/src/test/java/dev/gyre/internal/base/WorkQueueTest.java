package dev.gyre.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.util.ArrayList;
import java.util.List;

class WorkQueueTest {
    private final QueueingExecutor workers = QueueingExecutor.onVirtualThreads(1, 0);

    /// 0 to 9: adds that work. 10 to 19: removes it. 20 and more: polls.
    @Property(tries = 1_000)
    @Clause("P-5")
    void line_againstAModel_behavesLikeAList(
            @ForAll @Size(max = 200) List<@IntRange(max = 26) Integer> program) {
        List<Runnable> works = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            works.add(new Thread());
        }
        WorkQueue line = new WorkQueue();
        List<QueueingExecutor.Item> model = new ArrayList<>();
        for (int step : program) {
            if (step < 10) {
                QueueingExecutor.Item job = new QueueingExecutor.Item(works.get(step), workers);
                line.add(job);
                model.add(job);
            } else if (step < 20) {
                Runnable work = works.get(step - 10);
                assertThat(line.remove(work)).isEqualTo(removeFirst(model, work));
            } else {
                assertThat(line.poll()).isSameAs(model.isEmpty() ? null : model.removeFirst());
            }
            assertThat(line.size()).isEqualTo(model.size());
        }
        while (!model.isEmpty()) {
            assertThat(line.poll()).isSameAs(model.removeFirst());
        }
        assertThat(line.poll()).isNull();
    }

    @SuppressWarnings("ReferenceEquality") // as the line does
    private static boolean removeFirst(List<QueueingExecutor.Item> model, Runnable work) {
        for (QueueingExecutor.Item job : model) {
            if (job.work == work) {
                return model.remove(job);
            }
        }
        return false;
    }

    @Example
    @Clause("P-5")
    void line_emptiedAfterABurst_isALineLikeAnyOther() {
        WorkQueue line = new WorkQueue();
        for (int round = 0; round < 3; round++) {
            List<QueueingExecutor.Item> jobs = new ArrayList<>();
            for (int i = 0; i < 5_000; i++) {
                QueueingExecutor.Item job = new QueueingExecutor.Item(new Thread(), workers);
                jobs.add(job);
                line.add(job);
            }
            for (QueueingExecutor.Item job : jobs.reversed()) {
                assertThat(line.remove(job.work)).isTrue();
                assertThat(line.remove(job.work)).isFalse();
            }
            assertThat(line.size()).isZero();
            assertThat(line.poll()).isNull();
        }
    }
}
