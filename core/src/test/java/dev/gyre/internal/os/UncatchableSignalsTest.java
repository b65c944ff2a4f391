package dev.gyre.internal.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UncatchableSignalsTest {
    @ParameterizedTest
    @CsvSource({"12, 12", "30, 30", "40, 40", "64, 64", "11, 12", "65, 12", "USR1, 12", "'', 12"})
    void suspendSignal_isWhatTheJvmMakesOfTheVariable(String variable, int number) {
        assertThat(UncatchableSignals.suspendSignal(variable)).isEqualTo(number);
    }

    @Test
    void suspendSignal_withoutTheVariable_isSigusr2() {
        assertThat(UncatchableSignals.suspendSignal(null)).isEqualTo(Signal.SIGUSR2.number());
    }

    @Test
    @Clause("Y-1")
    void requireHandled_whereTheJvmCallsNone_saysHowToStartIt() {
        assertThatThrownBy(() -> UncatchableSignals.requireHandled(Signal.SIGTERM, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SIGTERM cannot be caught")
                .hasMessageContaining("without -Xrs")
                .hasMessageContaining("env --block-signal=TERM java -Xrs");
    }
}
