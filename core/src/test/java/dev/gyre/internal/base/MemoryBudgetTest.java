package dev.gyre.internal.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.base.MemoryBudget.Reservation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

class MemoryBudgetTest {
    private static final long MIB = 1 << 20;
    private static final LoopConfig SMALL = LoopConfig.DEFAULT.withReceiveBuffers(64, 16 << 10);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    @Clause("E-3")
    void reserve_ofAsManyLoopsAsWereNamed_dividesEqually_andLeavesAShare(int loops) {
        MemoryBudget budget = new MemoryBudget(90 * MIB);
        LoopConfig config = SMALL.withBufferMemory(budget.share(loops, MIB));
        for (int i = 0; i < loops; i++) {
            budget.reserve(config);
        }
        assertThat(budget.reserved()).isLessThanOrEqualTo(90 * MIB * loops / (loops + 1));
        budget.reserve(config);
        assertThat(budget.reserved()).isLessThanOrEqualTo(90 * MIB);
    }

    @Test
    @Clause("E-3")
    void reserve_ofMoreLoopsThanExpected_refusesNoShare_butSizesThatAreNotLeft() {
        MemoryBudget budget = new MemoryBudget(64 * MIB);
        List<Reservation> open = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            open.add(budget.reserve(SMALL.withName("loop-" + i)));
        }
        assertThat(open).allMatch(each -> each.config().bufferMemory() >= MIB);
        assertThatThrownBy(() -> budget.reserve(SMALL.withBufferMemory(MIB)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("but 0 of 64 MiB are left")
                .hasMessageContaining("withBufferMemory")
                .hasMessageContaining("withReceiveBuffers")
                .hasMessageContaining("-Dgyre.bufferMemory=SIZE or -Xmx");
        open.forEach(Reservation::close);
        assertThat(budget.reserve(SMALL.withBufferMemory(32 * MIB)).config().bufferMemory())
                .isEqualTo(32 * MIB);
    }

    @Test
    @Clause("E-3")
    void reserve_ofMoreThanIsLeft_namesTheSettingsAndTheRemedy_andReservesNothing() {
        MemoryBudget budget = new MemoryBudget(32 * MIB);
        Reservation first = budget.reserve(SMALL.withBufferMemory(20 * MIB));
        LoopConfig second = SMALL.withName("second").withBufferMemory(16 * MIB);
        assertThatThrownBy(() -> budget.reserve(second))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "loop second needs 17 MiB of native memory (bufferMemory 16 MiB,"
                                + " receiveBuffers 1 MiB), but 11 of 32 MiB are left: ");
        assertThat(budget.reserved()).isEqualTo(21 * MIB);
        first.close();
        first.close();
        assertThat(budget.reserved()).as("closed once or twice").isZero();
        budget.reserve(second);
    }

    @Test
    @Clause("E-3")
    void loop_reservesWhileItIsOpen_andItsConfigurationHasTheAmount() {
        EventLoop loop = EventLoop.open(SMALL.withBufferMemory(3 * MIB));
        assertThat(loop.config().bufferMemory()).isEqualTo(3 * MIB);
        long open = MemoryBudget.PROCESS.reserved();
        loop.close();
        long before = MemoryBudget.PROCESS.reserved();
        assertThat(open - before).isEqualTo(4 * MIB);
        assertThatThrownBy(() -> EventLoop.open(SMALL.withBufferMemory(1L << 60)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("MiB are left");
        assertThat(MemoryBudget.PROCESS.reserved()).isLessThanOrEqualTo(before);
    }

    @ParameterizedTest
    @CsvSource({"1048576, 1048576", "64k, 65536", "64M, 67108864", "2g, 2147483648"})
    void limit_byTheProperty_hasUnits(String property, long bytes) {
        assertThat(MemoryBudget.limitOf(property)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "m", "-1", "1.5g", "9999999999g", "much"})
    void limit_thatIsNoSize_isRefusedWithTheValue(String property) {
        assertThatThrownBy(() -> MemoryBudget.limitOf(property))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("gyre.bufferMemory")
                .hasMessageContaining("not " + property);
    }

    @Test
    void limit_withoutTheProperty_isTheMaximumHeap() {
        assertThat(MemoryBudget.limitOf(null)).isEqualTo(Runtime.getRuntime().maxMemory());
    }
}
