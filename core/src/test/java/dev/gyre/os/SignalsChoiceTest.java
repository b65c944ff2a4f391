package dev.gyre.os;

import static dev.gyre.os.Signal.SIGUSR1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.internal.sys.TestSignals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// Which signals can be caught in a JVM that was started normally, and which are rejected.
class SignalsChoiceTest {
    private final EventLoop loop = EventLoop.open();
    private final List<Signal> heard = new ArrayList<>();

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    @Clause("Y-1")
    void on_nothing_isRefused() {
        assertThatThrownBy(() -> Signals.on(loop, Set.of(), heard::add))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name at least one");
        assertThatThrownBy(() -> Signals.on(loop, (Signal) null, heard::add))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> Signals.on(loop, Arrays.asList(SIGUSR1, null), heard::add))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> Signals.on(loop, SIGUSR1, null))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> Signals.on(null, SIGUSR1, heard::add))
                .isInstanceOf(NullPointerException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "SIGKILL, use SIGTERM",
        "SIGSTOP, use SIGTSTP",
        "SIGSEGV, fault of one thread",
        "SIGBUS, fault of one thread",
        "SIGFPE, fault of one thread",
        "SIGILL, fault of one thread",
        "SIGTRAP, fault of one thread",
        "SIGSYS, fault of one thread",
        "SIGABRT, -XX:OnError",
        "SIGPIPE, EPIPE",
        "SIGXFSZ, EFBIG",
        "SIGUSR2, _JAVA_SR_SIGNUM=40",
        "SIGQUIT, env --block-signal=QUIT java -Xrs"
    })
    @Clause("Y-1")
    void on_whatTheJvmOrTheKernelNeeds_isRefusedWithTheRemedy(Signal signal, String remedy) {
        assertThatThrownBy(() -> Signals.on(loop, signal, heard::add))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(signal + " cannot be caught: ")
                .hasMessageContaining(remedy);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {
                "SIGKILL", "SIGSTOP", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS",
                "SIGABRT", "SIGPIPE", "SIGXFSZ", "SIGUSR2", "SIGQUIT"
            })
    @Clause("Y-1")
    void on_anyOther_isHeardOf(Signal signal) {
        try (Signals signals = Signals.on(loop, signal, heard::add)) {
            if (signals.ignored().contains(signal)) {
                assertThat(signals).hasToString("Signals[" + signal + " ignored]");
                return; // By whoever started the build, as with nohup.
            }
            assertThat(signals).hasToString("Signals[" + signal + " by the JVM's handler]");
            loop.after(Duration.ofSeconds(10), late -> heard.clear()); // Or it would wait for ever.
            TestSignals.send(signal);
            loop.runOne();
        }
        assertThat(heard).containsExactly(signal);
    }

    @Test
    void of_number_isTheSignal() {
        for (Signal signal : EnumSet.allOf(Signal.class)) {
            assertThat(Signal.of(signal.number())).contains(signal);
        }
        assertThat(Signal.of(0)).isEmpty();
        assertThat(Signal.of(-1)).isEmpty();
        assertThat(Signal.of(32)).isEmpty();
    }
}
