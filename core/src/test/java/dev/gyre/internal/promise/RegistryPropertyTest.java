package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.gyre.Clause;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TestLoopContext;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// The registry against a model that keeps everything, for any order of additions, settlements,
/// collections and scans.
///
/// The model does not know the slots of the table, so it does not know exactly when a dead entry is
/// removed. It requires removal within one cycle of the cursor or by a rebuild, and never earlier
/// than the entry is dead.
class RegistryPropertyTest {
    enum Kind {
        ADD,
        SETTLE_ONE,
        SETTLE_OLDEST,
        COLLECT_ONE,
        COLLECT_NEWEST,
        SCAVENGE,
        SCAVENGE_TO_THE_END
    }

    record Step(Kind kind, int number) {}

    @Provide
    Arbitrary<List<Step>> programs() {
        Arbitrary<Kind> kinds =
                Arbitraries.frequencyOf(
                        Tuple.of(3, Arbitraries.just(Kind.ADD)),
                        Tuple.of(3, Arbitraries.just(Kind.SCAVENGE)),
                        Tuple.of(4, Arbitraries.of(Kind.values())));
        Arbitrary<Integer> numbers =
                Arbitraries.frequencyOf(
                        Tuple.of(4, Arbitraries.integers().between(1, 25)),
                        Tuple.of(2, Arbitraries.integers().between(26, 200)),
                        Tuple.of(1, Arbitraries.integers().between(201, 700)));
        return Combinators.combine(kinds, numbers).as(Step::new).list().ofMaxSize(60);
    }

    /// A promise in the model.
    private static final class Member {
        final LoopPromise<Integer> promise;
        boolean dead;
        boolean collected;
        boolean gone;

        /// The number of slots scanned since it died.
        long looked;

        Member(LoopPromise<Integer> promise) {
            this.promise = promise;
        }
    }

    private static final class Run {
        private final Promises home =
                new Promises(
                        new TestLoopContext(),
                        new Confinement("tested"),
                        new TaskRing("microtasks"),
                        false);
        private final Registry registry = home.registry;
        private final Map<Long, Member> members = new LinkedHashMap<>();

        private int gone;
        private int capacity = Registry.MIN_CAPACITY;
        private int cursor;
        private long rebuilt;

        private List<Member> pending() {
            return members.values().stream().filter(member -> !member.dead).toList();
        }

        private int held() {
            return members.size() - gone;
        }

        /// Returns whether less than a quarter of the table is pending, as far as known without a
        /// scan.
        private boolean isSparse() {
            long settled =
                    members.values().stream()
                            .filter(member -> member.dead && !member.collected && !member.gone)
                            .count();
            return capacity > Registry.MIN_CAPACITY && held() - settled < capacity / 4;
        }

        private void noteGone(Member member) {
            if (!member.gone) {
                member.gone = true;
                gone++;
            }
        }

        void perform(Step step) {
            List<Member> pending = pending();
            int size = pending.size();
            int some = Math.min(step.number(), size);
            switch (step.kind()) {
                case ADD -> add(step.number());
                case SETTLE_ONE ->
                        pending.stream().skip(pick(step, size)).limit(1).forEach(Run::settle);
                case SETTLE_OLDEST -> pending.subList(0, some).forEach(Run::settle);
                case COLLECT_ONE ->
                        pending.stream().skip(pick(step, size)).limit(1).forEach(this::collect);
                case COLLECT_NEWEST -> pending.subList(size - some, size).forEach(this::collect);
                case SCAVENGE -> scavenge(Math.min(step.number(), capacity - cursor));
                case SCAVENGE_TO_THE_END -> scavenge(capacity - cursor);
            }
        }

        private static int pick(Step step, int size) {
            return size == 0 ? 0 : step.number() % size;
        }

        private void add(int count) {
            for (int i = 0; i < count; i++) {
                if ((held() + 1) * 4 > capacity * 3) {
                    foreseeRebuild();
                }
                LoopPromise<Integer> promise = new LoopPromise<>(home);
                registry.add(promise);
                members.put(promise.id(), new Member(promise));
            }
        }

        private static void settle(Member member) {
            assertThat(member.promise.settleResolved(1)).isTrue();
            member.dead = true;
        }

        /// Simulates the collector.
        private void collect(Member member) {
            Objects.requireNonNull(registry.entry(member.promise.id())).clear();
            member.dead = true;
            member.collected = true;
        }

        private void foreseeRebuild() {
            rebuilt++;
            cursor = 0;
            capacity = Registry.capacityFor(pending().size());
            members.values().stream().filter(member -> member.dead).forEach(this::noteGone);
        }

        /// Stops at the end of the table, so that at most one rebuild happens, last.
        private void scavenge(int slots) {
            boolean still = held() == 0 && capacity == Registry.MIN_CAPACITY;
            boolean sparse = isSparse();
            registry.scavenge(slots);
            if (still) {
                return;
            }
            if (sparse) {
                foreseeRebuild();
                return;
            }
            members.values().stream().filter(member -> member.dead).forEach(m -> m.looked += slots);
            cursor = cursor + slots & capacity - 1;
            if (registry.rebuilt.get() > rebuilt) {
                assertThat(cursor).as("rebuilt, but the cycle is not over").isZero();
                assertThat(pending().size()).as("rebuilt, but not sparse").isLessThan(capacity / 4);
                int before = capacity;
                foreseeRebuild();
                assertThat(capacity).isLessThanOrEqualTo(before / 2);
            } else {
                noteGone();
                if (cursor == 0) {
                    assertThat(isSparse()).as("sparse, but not rebuilt").isFalse();
                }
            }
        }

        private void noteGone() {
            for (Member member : members.values()) {
                if (member.dead && registry.entry(member.promise.id()) == null) {
                    noteGone(member);
                }
                if (member.dead && !member.gone && member.looked >= capacity) {
                    fail("%s is dead and was missed for a cycle", member.promise);
                }
            }
        }

        @SuppressWarnings("ReferenceEquality") // the very same promise
        void check() {
            for (Member member : members.values()) {
                long id = member.promise.id();
                if ((registry.entry(id) == null) != member.gone) {
                    fail(
                            "%s, dead: %b, is in the table: %b",
                            member.promise, member.dead, member.gone);
                }
                boolean isKnown = !member.gone && !member.collected;
                if (registry.find(id) != (isKnown ? member.promise : null)) {
                    fail("%s found as %s", member.promise, registry.find(id));
                }
            }
            assertThat(registry.capacity()).isEqualTo(capacity);
            assertThat(registry.rebuilt.get()).isEqualTo(rebuilt);
            assertThat(registry.live.get()).isEqualTo(held());
            assertThat(registry.scavenged.get()).isEqualTo(members.size() - held());
            assertThat(held() * 4).as("filled to three quarters").isLessThanOrEqualTo(capacity * 3);
            List<LoopPromise<?>> pending = new ArrayList<>();
            pending().forEach(member -> pending.add(member.promise));
            assertThat(registry.pending()).isEqualTo(pending);
        }
    }

    @Property(tries = 500)
    @Clause("R-1")
    void registry_againstAModel_knowsTheSameAndForgetsInTime(
            @ForAll("programs") List<Step> program) {
        Run run = new Run();
        for (Step step : program) {
            run.perform(step);
            run.check();
        }
        int left = run.pending().size();
        run.perform(new Step(Kind.SCAVENGE_TO_THE_END, 0)); // The cursor may have begun anywhere,
        run.perform(new Step(Kind.SCAVENGE_TO_THE_END, 0)); // so this one is the whole cycle.
        run.check();
        assertThat(run.registry.live.get())
                .as("one cycle has forgotten all the dead")
                .isEqualTo(left);
    }
}
