package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.base.QueueingExecutor;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

/// BoundedExecutor against [WorkersModel]: for any order of submissions, ends, removals and
/// rejections, the same work runs in the same order at the same step.
class BoundedExecutorPropertyTest {
    private static final int WORKS = 15;

    enum Kind {
        EXECUTE,
        EXECUTE_INSIDE_THE_NEXT_HAND_OVER,
        FINISH,
        FINISH_SHELTERED,
        REMOVE,
        REMOVE_HANDED_IN_BY,
        REFUSE,
        INLINE
    }

    record Step(Kind kind, int number) {}

    @Provide
    Arbitrary<List<Step>> programs() {
        Arbitrary<Kind> kinds =
                Arbitraries.frequencyOf(
                        Tuple.of(4, Arbitraries.just(Kind.EXECUTE)),
                        Tuple.of(3, Arbitraries.just(Kind.FINISH)),
                        Tuple.of(4, Arbitraries.of(Kind.values())));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, WORKS - 1))
                .as(Step::new)
                .list()
                .ofMaxSize(80);
    }

    /// The real executor, which writes the same log.
    private static final class Real {
        final List<String> log = new ArrayList<>();
        final ScriptedExecutor executor = new ScriptedExecutor();
        final ScriptedExecutor shelter = new ScriptedExecutor();
        final BoundedExecutor workers;
        private final Map<Integer, Runnable> works = new HashMap<>();

        Real(int atOnce, int queued, boolean keepsRefused) {
            workers = new QueueingExecutor(executor, shelter, atOnce, queued);
            if (keepsRefused) {
                executor.keepRefused();
            }
        }

        private Runnable work(int number) {
            return works.computeIfAbsent(number, key -> () -> run(key));
        }

        private void run(int number) {
            log.add("ran " + number);
            int child = WorkersModel.handedInBy(number);
            if (child >= 0) {
                execute(child);
            }
            if (WorkersModel.isThrowing(number)) {
                throw new IllegalStateException("" + number);
            }
        }

        void execute(int number) {
            try {
                workers.execute(work(number));
                log.add("accepted " + number);
            } catch (RejectedExecutionException e) {
                log.add("refused " + number);
            } catch (IllegalStateException e) {
                log.add("threw " + number);
            }
        }

        void finish(ScriptedExecutor from, int index) {
            try {
                from.run(index);
            } catch (IllegalStateException e) {
                log.add("thrown " + e.getMessage());
            }
        }

        void remove(int number) {
            log.add((workers.remove(work(number)) ? "removed " : "kept ") + number);
        }
    }

    @Property(tries = 2_000)
    @Clause({"P-2", "P-5"})
    void workers_againstAModel_runTheSameInTheSameOrder(
            @ForAll("programs") List<Step> program,
            @ForAll @IntRange(min = 1, max = 3) int atOnce,
            @ForAll @IntRange(min = 0, max = 5) int queued,
            @ForAll boolean keepsRefused) {
        Real real = new Real(atOnce, queued, keepsRefused);
        WorkersModel model = new WorkersModel(atOnce, queued, keepsRefused);
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler(
                (t, thrown) -> real.log.add("uncaught " + thrown.getMessage()));
        try (LogCapture silence = new LogCapture()) {
            for (Step step : program) {
                perform(step, real, model);
                compare(real, model, silence);
                assertThat(real.workers.running()).isBetween(0, atOnce);
                assertThat(real.workers.waiting()).isBetween(0, queued);
            }
            finishAll(real, model);
            compare(real, model, silence);
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        assertThat(real.workers.running()).as("places not given back").isZero();
        assertThat(count(real, "accepted") + count(real, "threw"))
                .as("what was accepted either ran or was removed, once: %s", real.log)
                .isEqualTo(count(real, "ran") + count(real, "removed"));
    }

    private static long count(Real real, String what) {
        return real.log.stream().filter(entry -> entry.startsWith(what + " ")).count();
    }

    private static void perform(Step step, Real real, WorkersModel model) {
        int number = step.number();
        switch (step.kind()) {
            case EXECUTE -> {
                real.execute(number);
                model.execute(number);
            }
            case EXECUTE_INSIDE_THE_NEXT_HAND_OVER -> {
                real.executor.beforeNext(() -> real.execute(number));
                model.inside = number;
            }
            case FINISH -> {
                if (!model.handed.isEmpty()) {
                    int index = number % model.handed.size();
                    real.finish(real.executor, index);
                    model.finish(model.handed, index);
                }
            }
            case FINISH_SHELTERED -> {
                if (!model.sheltered.isEmpty()) {
                    int index = number % model.sheltered.size();
                    real.finish(real.shelter, index);
                    model.finish(model.sheltered, index);
                }
            }
            case REMOVE -> {
                real.remove(number);
                model.remove(number);
            }
            case REMOVE_HANDED_IN_BY -> {
                int child = Math.max(0, WorkersModel.handedInBy(number));
                real.remove(child);
                model.remove(child);
            }
            case REFUSE -> {
                real.executor.refuse(number % 4);
                model.refuse = number % 4;
            }
            case INLINE -> {
                real.executor.runInline(number % 4);
                model.inline = number % 4;
            }
        }
    }

    private static void finishAll(Real real, WorkersModel model) {
        perform(new Step(Kind.REFUSE, 0), real, model);
        perform(new Step(Kind.INLINE, 0), real, model);
        while (!model.handed.isEmpty() || !model.sheltered.isEmpty()) {
            perform(new Step(Kind.FINISH, 0), real, model);
            perform(new Step(Kind.FINISH_SHELTERED, 0), real, model);
        }
    }

    private static void compare(Real real, WorkersModel model, LogCapture silence) {
        assertThat(real.log).as("warnings: %s", silence.messages()).isEqualTo(model.log);
        assertThat(real.workers.running()).as("running").isEqualTo(model.running());
        assertThat(real.workers.waiting()).as("waiting").isEqualTo(model.waiting());
    }
}
