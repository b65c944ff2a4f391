package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopOverloadedException;
import dev.gyre.Reachability;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TestLoopContext;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/// The registry without a loop.
class RegistryTest {
    private final Promises home =
            new Promises(
                    new TestLoopContext(),
                    new Confinement("tested"),
                    new TaskRing("microtasks"),
                    false);
    private final Registry registry = home.registry;
    private final List<LoopPromise<?>> added = new ArrayList<>();

    private LoopPromise<Integer> promise() {
        return new LoopPromise<>(home);
    }

    private void add(int count) {
        for (int i = 0; i < count; i++) {
            LoopPromise<?> promise = promise();
            registry.add(promise);
            added.add(promise);
        }
    }

    private void settle(int from, int to) {
        added.subList(from, to).forEach(promise -> promise.settleResolved(1));
    }

    private long held() {
        return added.stream().filter(promise -> registry.entry(promise.id()) != null).count();
    }

    // ------------------------------------------------------------------ finding

    @Test
    @Clause("R-1")
    void find_ofManyPending_givesEachByItsId() {
        add(10_000);
        assertThat(added).allSatisfy(it -> assertThat(registry.find(it.id())).isSameAs(it));
        assertThat(registry.find(0)).isNull();
        assertThat(registry.find(-1)).isNull();
        assertThat(registry.find(Long.MAX_VALUE)).isNull();
    }

    @Test
    @Clause("R-1")
    void pending_afterSomeSettled_givesTheRestInTheOrderTheyWereMade() {
        add(1_000);
        settle(100, 900);
        List<LoopPromise<?>> rest = new ArrayList<>(added.subList(0, 100));
        rest.addAll(added.subList(900, 1_000));
        assertThat(registry.pending()).isEqualTo(rest);
    }

    // ------------------------------------------------------------------ scavenging

    @Test
    @Clause("R-1")
    void scavenge_oneCycle_removesEverySettledOneAndNoOther() {
        add(48);
        settle(10, 40);
        registry.scavenge(Registry.MIN_CAPACITY);
        assertThat(held()).isEqualTo(18);
        assertThat(registry.live.get()).isEqualTo(18);
        assertThat(registry.scavenged.get()).isEqualTo(30);
        assertThat(registry.pending()).hasSize(18);
    }

    @Test
    @Clause("R-1")
    void scavenge_collectedPromise_removesItsEntry() {
        long[] id = new long[1];
        Reachability dropped =
                Reachability.of(
                        () -> {
                            LoopPromise<?> promise = promise();
                            id[0] = promise.id();
                            registry.add(promise);
                            return promise;
                        });
        dropped.assertLost("a promise that only the registry knows");
        assertThat(registry.find(id[0])).isNull();
        assertThat(registry.pending()).isEmpty();
        assertThat(registry.live.get()).as("not scanned yet").isEqualTo(1);
        registry.scavenge(Registry.MIN_CAPACITY);
        assertThat(registry.entry(id[0])).isNull();
        assertThat(registry.live.get()).isZero();
        assertThat(registry.scavenged.get()).isEqualTo(1);
    }

    @Test
    @Clause("R-1")
    void scavenge_whenAllButAFewHaveSettled_rebuildsAtOnce() {
        add(1_000);
        settle(0, 400);
        registry.scavenge(1);
        assertThat(registry.rebuilt.get())
                .as("more than a quarter are pending")
                .isEqualTo(rebuiltByGrowth());
        settle(400, 800);
        registry.scavenge(1);
        assertThat(registry.rebuilt.get()).isEqualTo(rebuiltByGrowth() + 1);
        assertThat(held()).isEqualTo(200);
        assertThat(registry.live.get()).isEqualTo(200);
        registry.scavenge(1);
        assertThat(registry.rebuilt.get()).as("once").isEqualTo(rebuiltByGrowth() + 1);
    }

    /// 64 → 128 → … → 2048.
    private static long rebuiltByGrowth() {
        return 5;
    }

    @Test
    @Clause("R-1")
    void scavenge_inSmallSteps_looksAtEverySlotOnceACycle() {
        add(600);
        settle(0, 300); // More than a quarter of 2048 would have to be left.
        int capacity = registry.capacity();
        for (int looked = 0; looked < capacity; looked++) {
            registry.scavenge(1);
        }
        assertThat(held()).isEqualTo(300);
        assertThat(registry.live.get()).isEqualTo(300);
    }

    @Test
    @Clause("R-1")
    void scavenge_moreThanTheTableHas_looksAtEachSlotOnce() {
        add(30);
        settle(0, 30);
        registry.scavenge(Integer.MAX_VALUE);
        assertThat(registry.live.get()).isZero();
        registry.scavenge(Integer.MAX_VALUE);
        assertThat(registry.scavenged.get()).isEqualTo(30);
    }

    @Test
    @Clause("R-1")
    void scavenge_fromTheMiddle_missesNoneAcrossTheWrapAround() {
        for (int start = 0; start < Registry.MIN_CAPACITY; start++) {
            Registry turned = new Registry();
            List<LoopPromise<?>> members = new ArrayList<>();
            for (int i = 0; i < 48; i++) {
                LoopPromise<?> promise =
                        promise(); // Ids go on, so the runs lie elsewhere each time.
                turned.add(promise);
                members.add(promise);
            }
            turned.scavenge(start);
            for (int i = 0; i < 48; i += 2) {
                members.get(i).settleResolved(1);
            }
            turned.scavenge(Registry.MIN_CAPACITY);
            assertThat(turned.live.get()).as("started at slot %d", start).isEqualTo(24);
            for (int i = 0; i < 48; i++) {
                assertThat(turned.find(members.get(i).id()))
                        .isSameAs(i % 2 == 0 ? null : members.get(i));
            }
        }
    }

    // ------------------------------------------------------------------ size

    @Test
    @Clause("R-1")
    void add_tableFullOfSettledOnes_purgesInsteadOfGrowing() {
        add(48);
        settle(0, 48);
        add(1);
        assertThat(registry.capacity()).isEqualTo(Registry.MIN_CAPACITY);
        assertThat(registry.live.get()).isEqualTo(1);
        assertThat(registry.scavenged.get()).isEqualTo(48);
        assertThat(registry.rebuilt.get()).isEqualTo(1);
    }

    @Test
    @Clause("R-1")
    void add_tableFullOfPendingOnes_growsToTheDouble() {
        add(48);
        assertThat(registry.capacity()).isEqualTo(64);
        add(1);
        assertThat(registry.capacity()).isEqualTo(128);
        assertThat(registry.live.get()).isEqualTo(49);
        assertThat(registry.scavenged.get()).isZero();
    }

    @Test
    @Clause("R-1")
    void add_inOneBurst_withinFourTimesWhatIsPending() {
        for (int i = 1; i <= 5_000; i++) {
            add(1);
            assertThat(registry.capacity())
                    .as("with %d pending", i)
                    .isLessThanOrEqualTo(Math.max(Registry.MIN_CAPACITY, 4 * i));
        }
    }

    @Test
    @Clause("R-1")
    void scavenge_cycleThatEndsBelowAQuarter_rebuildsSmaller() {
        add(1_000);
        settle(100, 1_000);
        registry.scavenge(2_048);
        assertThat(registry.capacity()).isEqualTo(256);
        assertThat(registry.pending()).isEqualTo(added.subList(0, 100));
    }

    @Test
    @Clause("R-1")
    void scavenge_cycleThatEndsAtAQuarter_keepsTheTable() {
        add(1_000);
        long rebuilt = registry.rebuilt.get();
        settle(512, 1_000);
        registry.scavenge(2_048);
        assertThat(registry.capacity()).isEqualTo(2_048);
        assertThat(registry.rebuilt.get()).isEqualTo(rebuilt);
        assertThat(registry.live.get()).isEqualTo(512);
    }

    @Test
    @Clause("R-1")
    void capacityFor_anyNumber_isAtLeastTwiceAndAtMostFourTimesThat() {
        int[] numbers = {0, 31, 32, 63, 64, 1_000_000, (1 << 28) - 1, 1 << 28, (1 << 29) - 1};
        for (int pending : numbers) {
            long one = pending + 1L;
            assertThat((long) Registry.capacityFor(pending))
                    .as("for %d", pending)
                    .isBetween(2 * one, Math.max(Registry.MIN_CAPACITY, 4 * one - 1));
        }
    }

    @Test
    @Clause("R-1")
    void capacityFor_asManyAsThereMayBe_endsAtTheLimit() {
        int most = Registry.MAX_CAPACITY / 4 * 3;
        assertThat(Registry.capacityFor(1 << 29)).isEqualTo(Registry.MAX_CAPACITY);
        assertThat(Registry.capacityFor(most - 1)).isEqualTo(Registry.MAX_CAPACITY);
        assertThatThrownBy(() -> Registry.capacityFor(most))
                .isInstanceOf(LoopOverloadedException.class)
                .hasMessageContaining("" + most);
    }

    @Test
    @Clause("R-1")
    void clear_forgetsAllAndCountsThem() {
        add(1_000);
        registry.clear();
        assertThat(registry.capacity()).isEqualTo(Registry.MIN_CAPACITY);
        assertThat(registry.live.get()).isZero();
        assertThat(registry.scavenged.get()).isEqualTo(1_000);
        assertThat(registry.pending()).isEmpty();
        assertThat(held()).isZero();
    }
}
