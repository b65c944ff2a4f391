package dev.gyre.internal.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.net.Rebalancer.Transfer;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.IntStream;

class RebalancerTest {
    private static int spread(int[] counts) {
        return IntStream.of(counts).max().orElse(0) - IntStream.of(counts).min().orElse(0);
    }

    private static long squares(int[] counts) {
        return IntStream.of(counts).mapToLong(count -> (long) count * count).sum();
    }

    private static int[] apply(int[] counts, List<Transfer> plan) {
        int[] after = counts.clone();
        for (Transfer each : plan) {
            after[each.from()] -= each.count();
            after[each.to()] += each.count();
        }
        return after;
    }

    @Property
    @Clause("G-4")
    void plans_appliedRepeatedly_convergeWithoutOscillating(
            @ForAll @Size(min = 1, max = 8) List<@IntRange(max = 3_000) Integer> loops) {
        int[] counts = loops.stream().mapToInt(Integer::intValue).toArray();
        int[] original = counts;
        double average = IntStream.of(counts).average().orElse(0);
        int rounds = 0;
        List<Transfer> plan = Rebalancer.plan(counts);
        while (!plan.isEmpty()) {
            int[] after = apply(counts, plan);
            assertThat(squares(after)).isLessThan(squares(counts));
            assertThat(spread(after)).isLessThanOrEqualTo(spread(counts));
            assertThat(plan.stream().mapToInt(Transfer::count).sum())
                    .isBetween(1, Rebalancer.MAX_MOVES);
            for (int i = 0; i < counts.length; i++) {
                // No loop crosses the average, so no connection moves back.
                if (counts[i] > Math.ceil(average)) {
                    assertThat(after[i]).isGreaterThanOrEqualTo((int) Math.floor(average));
                }
                if (counts[i] < Math.floor(average)) {
                    assertThat(after[i]).isLessThanOrEqualTo((int) Math.ceil(average));
                }
            }
            counts = after;
            plan = Rebalancer.plan(counts);
            rounds++;
        }
        assertThat(IntStream.of(counts).sum()).isEqualTo(IntStream.of(original).sum());
        assertThat(spread(counts))
                .isLessThanOrEqualTo(
                        (int) Math.max(Rebalancer.MIN_DIFFERENCE, Math.floor(average) / 8));
        assertThat(rounds).isLessThanOrEqualTo(8 * 3_000 / Rebalancer.MAX_MOVES + 1);
    }

    @Property
    @Clause("G-4")
    void plan_afterSmallChanges_isEmpty(
            @ForAll @IntRange(max = 10_000) int base,
            @ForAll @Size(min = 2, max = 8) List<@IntRange(max = 8) Integer> extra) {
        int[] counts = extra.stream().mapToInt(more -> base + more).toArray();
        assertThat(Rebalancer.plan(counts)).isEmpty();
    }

    @Test
    @Clause("G-4")
    void plan_twoLoops_movesHalfOfTheDifferenceWithinTheLimit() {
        assertThat(Rebalancer.plan(60, 20)).containsExactly(new Transfer(0, 1, 20));
        assertThat(Rebalancer.plan(0, 1_000))
                .containsExactly(new Transfer(1, 0, Rebalancer.MAX_MOVES));
        assertThat(Rebalancer.plan(20, 12)).isEmpty();
        assertThat(Rebalancer.plan(1_000, 1_100)).as("within an eighth").isEmpty();
        assertThat(Rebalancer.plan()).isEmpty();
        assertThat(Rebalancer.plan(5)).isEmpty();
    }
}
