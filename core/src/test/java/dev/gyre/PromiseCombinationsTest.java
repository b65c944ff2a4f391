package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/// Combinations of promises.
class PromiseCombinationsTest extends PromiseFixture {
    private final List<Deferred<String>> sources = new ArrayList<>();

    /// Creates that many promises, alternating between the two loops.
    private List<Promise<String>> pending(int count) {
        List<Promise<String>> promises = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            sources.add((i % 2 == 0 ? loop : other).deferred());
            promises.add(sources.getLast().promise());
        }
        return promises;
    }

    private void resolve(int index, String value) {
        assertThat(sources.get(index).resolve(value)).isTrue();
        runBoth();
    }

    private void reject(int index, Throwable reason) {
        assertThat(sources.get(index).reject(reason)).isTrue();
        runBoth();
    }

    // ------------------------------------------------------------------ all

    @Test
    @Clause("P-1")
    void all_resolvedInAnyOrder_hasTheValuesInTheOrderOfThePromises() {
        Promise<List<String>> all = Promise.all(loop, pending(4));
        resolve(2, "c");
        resolve(0, "a");
        resolve(3, null);
        assertThat(all.isSettled()).isFalse();
        resolve(1, "b");
        assertThat(all.outcome()).isEqualTo(resolved(Arrays.asList("a", "b", "c", null)));
    }

    @Test
    @Clause("P-1")
    void all_ofWhichSeveralAreRejected_isRejectedWithTheFirstAndTheRestIsHandled() {
        Promise<List<String>> all = Promise.all(loop, pending(4));
        note("all", all);
        resolve(0, "a");
        reject(3, new Trouble("first"));
        assertThat(log).containsExactly("all rejected first");
        reject(1, new Trouble("second"));
        reject(2, new Trouble("third"));
        assertThat(log).containsExactly("all rejected first");
        assertThat(unhandled).isEmpty();
    }

    @Test
    @Clause({"P-1", "P-3"})
    void all_rejectedAndNobodyThere_isReportedItselfAndOnce() {
        Promise.all(loop, pending(3));
        reject(1, TROUBLE);
        reject(0, new Trouble("another"));
        assertThat(unhandled).containsExactly(TROUBLE);
    }

    @Test
    @Clause("P-1")
    void all_theList_isNotToBeModifiedAndNotTheCallers() {
        List<Promise<String>> promises = pending(2);
        Promise<List<String>> all = Promise.all(loop, promises);
        promises.clear();
        resolve(0, "a");
        resolve(1, "b");
        assertThat(all.outcome()).isEqualTo(resolved(List.of("a", "b")));
        List<String> values = ((Outcome.Resolved<List<String>>) all.outcome()).value();
        assertThatThrownBy(() -> values.set(0, "c"))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    // ------------------------------------------------------------------ allSettled

    @Test
    @Clause("P-1")
    void allSettled_hasEveryOutcomeInTheOrderOfThePromises() {
        Promise<List<Outcome<String>>> all = Promise.allSettled(loop, pending(3));
        reject(2, TROUBLE);
        resolve(1, null);
        assertThat(all.isSettled()).isFalse();
        resolve(0, "a");
        assertThat(all.outcome())
                .isEqualTo(resolved(List.of(resolved("a"), resolved(null), rejected(TROUBLE))));
        assertThat(unhandled).isEmpty();
    }

    // ------------------------------------------------------------------ any

    @Test
    @Clause("P-1")
    void any_isResolvedWithTheFirstValueWhateverWasRejectedBefore() {
        Promise<String> any = Promise.any(loop, pending(4));
        reject(0, TROUBLE);
        reject(3, TROUBLE);
        assertThat(any.isSettled()).isFalse();
        resolve(2, null);
        resolve(1, "late");
        assertThat(any.outcome()).isEqualTo(resolved(null));
        assertThat(unhandled).isEmpty();
    }

    @Test
    @Clause("P-1")
    void any_ofWhichAllAreRejected_hasAllReasonsInTheOrderOfThePromises() {
        Promise<String> any = Promise.any(loop, pending(3));
        List<Throwable> reasons =
                List.of(new Trouble("a"), new Trouble("b"), new AssertionError("c"));
        any.recover(reason -> "" + unhandled.add(reason));
        for (int i : List.of(1, 2, 0)) {
            reject(i, reasons.get(i));
        }
        assertThat(unhandled)
                .singleElement()
                .isInstanceOfSatisfying(
                        AllRejectedException.class,
                        all -> {
                            assertThat(all.reasons()).isEqualTo(reasons);
                            assertThat(all.getSuppressed()).containsExactlyElementsOf(reasons);
                        });
    }

    // ------------------------------------------------------------------ race

    @Test
    @Clause("P-1")
    void race_settlesAsTheFirst_andTheRestIsHandled() {
        Promise<String> won = Promise.race(loop, pending(3));
        resolve(1, "quick");
        reject(0, TROUBLE);
        assertThat(won.outcome()).isEqualTo(resolved("quick"));
        sources.clear();
        Promise<String> lost = Promise.race(loop, pending(3));
        note("lost", lost);
        reject(2, TROUBLE);
        resolve(0, "late");
        assertThat(lost.outcome()).isEqualTo(rejected(TROUBLE));
        assertThat(unhandled).isEmpty();
    }

    // ------------------------------------------------------------------ edges

    @Test
    @Clause("P-1")
    void combination_ofNothing_settlesAtOnceOrIsRefused() {
        List<Promise<String>> none = List.of();
        assertThat(Promise.all(loop, none).outcome()).isEqualTo(resolved(List.of()));
        assertThat(Promise.allSettled(loop, none).outcome()).isEqualTo(resolved(List.of()));
        note("any", Promise.any(loop, none));
        runBoth();
        assertThat(log).containsExactly("any rejected no promise to wait for");
        assertThatThrownBy(() -> Promise.race(loop, none))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("never settle");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void combination_ofOnePromiseTwice_countsItTwice(When when) {
        resolving(
                when,
                promise -> {
                    note("all", Promise.all(loop, List.of(promise, promise)));
                    note("any", Promise.any(loop, List.of(promise, promise)));
                    note("race", Promise.race(loop, List.of(promise, promise)));
                });
        rejecting(
                when,
                promise -> {
                    note("all", Promise.all(loop, List.of(promise, promise)));
                    note("any", Promise.any(loop, List.of(promise, promise)));
                    note("race", Promise.race(loop, List.of(promise, promise)));
                });
        assertThat(log)
                .containsExactlyInAnyOrder(
                        "all resolved [value, value]",
                        "any resolved value",
                        "race resolved value",
                        "all rejected trouble",
                        "any rejected all promises were rejected, 2 of them",
                        "race rejected trouble");
    }

    @Test
    @Clause("P-1")
    void combination_ofSettledPromises_goesByTheirOrder() {
        inLoop(
                () -> {
                    List<Promise<String>> settled =
                            List.of(
                                    Promise.rejected(loop, new Trouble("first")),
                                    Promise.resolved(loop, "second"),
                                    Promise.rejected(loop, new Trouble("third")));
                    note("all", Promise.all(loop, settled));
                    note("any", Promise.any(loop, settled));
                    note("race", Promise.race(loop, settled));
                    assertThat(Promise.all(loop, settled.subList(1, 2)).isSettled())
                            .as("never inside the call")
                            .isFalse();
                });
        assertThat(log)
                .containsExactlyInAnyOrder(
                        "all rejected first", "any resolved second", "race rejected first");
        assertThat(unhandled).isEmpty();
    }

    @Test
    @Clause("P-1")
    void combination_withANull_namesItsPlaceAndTouchesNoOther() {
        Promise<String> untouched = Promise.rejected(loop, TROUBLE);
        List<Promise<String>> promises = Arrays.asList(untouched, untouched, null, untouched);
        for (Runnable call :
                List.<Runnable>of(
                        () -> Promise.all(loop, promises),
                        () -> Promise.allSettled(loop, promises),
                        () -> Promise.any(loop, promises),
                        () -> Promise.race(loop, promises))) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("promises[2]");
        }
        runBoth();
        assertThat(unhandled).as("not handled").containsExactly(TROUBLE);
    }

    @Test
    @Clause({"P-1", "R-2"})
    void combination_withAPromiseOfALoopThatEnds_isToldSo() {
        List<Promise<String>> promises = pending(2);
        note("all", Promise.all(loop, promises));
        note("settled", Promise.allSettled(loop, promises).then(List::size));
        note("race", Promise.race(loop, promises));
        runBoth();
        other.close();
        assertThat(sources.getFirst().resolve("a")).isTrue();
        loop.runUntilEmpty();
        assertThat(log).contains("settled resolved 2", "race resolved a").hasSize(3);
        assertThat(log).anyMatch(line -> line.startsWith("all rejected loop there terminated"));
    }

    // ------------------------------------------------------------------ against a model

    @Property(tries = 500)
    @Clause("P-1")
    void anyCombination_settledInAnyOrder_isThatOfTheModel(@ForAll long seed) {
        new PromiseCombinationsTest().compareWithTheModel(seed); // With loops of its own.
    }

    private void compareWithTheModel(long seed) {
        Random random = new Random(seed);
        int count = 1 + random.nextInt(6);
        List<Promise<String>> distinct = pending(count);
        List<Integer> inputs = new ArrayList<>();
        for (int left = 1 + random.nextInt(8); left > 0; left--) {
            inputs.add(random.nextInt(count));
        }
        List<Outcome<String>> outcomes =
                new ArrayList<>(Collections.nCopies(count, (Outcome<String>) null));
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < count; i += 2) {
            if (random.nextInt(4) == 0) {
                settleAtRandom(i, random, outcomes); // Of this loop, and settled before.
            }
        }
        inputs.stream().filter(i -> outcomes.get(i) != null).distinct().forEach(order::add);
        List<Promise<String>> promises = inputs.stream().map(distinct::get).toList();
        Promise<List<String>> all = Promise.all(loop, promises);
        Promise<List<Outcome<String>>> allSettled = Promise.allSettled(loop, promises);
        Promise<String> any = Promise.any(loop, promises);
        Promise<String> race = Promise.race(loop, promises);
        runBoth();
        List<Integer> rest = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (outcomes.get(i) == null) {
                rest.add(i);
            }
        }
        Collections.shuffle(rest, random);
        for (int next = -1; next < rest.size(); next++) {
            if (next >= 0) {
                settleAtRandom(rest.get(next), random, outcomes);
                order.add(rest.get(next));
                runBoth();
            }
            CombinationModel model = new CombinationModel(inputs, outcomes, order);
            assertThat(all.outcome()).isEqualTo(model.all());
            assertThat(allSettled.outcome()).isEqualTo(model.allSettled());
            assertThat(race.outcome()).isEqualTo(model.race());
            assertThat(withReasons(any.outcome())).isEqualTo(model.any());
        }
        closeLoops();
    }

    private void settleAtRandom(int index, Random random, List<Outcome<String>> outcomes) {
        Outcome<String> outcome =
                switch (random.nextInt(3)) {
                    case 0 -> resolved("value " + index);
                    case 1 -> resolved(null);
                    default -> rejected(new Trouble("reason " + index));
                };
        outcomes.set(index, outcome);
        assertThat(settle(sources.get(index), outcome)).isTrue();
    }

    /// Returns the outcome, with the list of reasons in place of the exception that contains them.
    private static Object withReasons(Outcome<String> outcome) {
        return outcome instanceof Outcome.Rejected<String>(AllRejectedException all)
                ? all.reasons()
                : outcome;
    }

    /// Returns the expected combinations after the inputs in the order have settled.
    private record CombinationModel(
            List<Integer> inputs, List<Outcome<String>> outcomes, List<Integer> order) {
        private List<Outcome<String>> inOrder() {
            return order.stream().filter(inputs::contains).map(outcomes::get).toList();
        }

        private List<Outcome<String>> inPlace() {
            return inputs.stream().map(outcomes::get).toList();
        }

        private boolean isComplete() {
            return inPlace().stream().allMatch(Objects::nonNull);
        }

        Outcome<List<String>> all() {
            for (Outcome<String> outcome : inOrder()) {
                if (outcome instanceof Outcome.Rejected<String>(Throwable reason)) {
                    return rejected(reason);
                }
            }
            return isComplete()
                    ? resolved(inPlace().stream().map(CombinationModel::value).toList())
                    : null;
        }

        private static String value(Outcome<String> outcome) {
            return ((Outcome.Resolved<String>) outcome).value();
        }

        Outcome<List<Outcome<String>>> allSettled() {
            return isComplete() ? resolved(inPlace()) : null;
        }

        Object any() {
            for (Outcome<String> outcome : inOrder()) {
                if (outcome instanceof Outcome.Resolved<String>) {
                    return outcome;
                }
            }
            return isComplete()
                    ? inPlace().stream().map(o -> ((Outcome.Rejected<String>) o).reason()).toList()
                    : null;
        }

        Outcome<String> race() {
            return inOrder().isEmpty() ? null : inOrder().getFirst();
        }
    }
}
