package dev.gyre.os;

import static dev.gyre.os.Signal.SIGCONT;
import static dev.gyre.os.Signal.SIGQUIT;
import static dev.gyre.os.Signal.SIGTERM;
import static dev.gyre.os.Signal.SIGUSR1;
import static dev.gyre.os.Signal.SIGWINCH;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.os.TestHandlers;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.TestSignals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/// Real signals that this process sends to itself, through the JVM's handler. SIGWINCH and SIGCONT
/// do nothing by default, so they may be sent without a subscription.
class SignalsTest {
    private final List<Throwable> uncaught = new ArrayList<>();
    private final EventLoop loop = open("signals");
    private final List<Signal> heard = new ArrayList<>();

    private EventLoop open(String name) {
        return EventLoop.open(
                LoopConfig.DEFAULT
                        .withName(name)
                        .withUncaughtHandler((thread, e) -> uncaught.add(e)));
    }

    @BeforeEach
    void guard() {
        guard(loop);
    }

    /// Keeps the loop alive, as a subscription does not, and times out.
    private static void guard(EventLoop loop) {
        loop.after(
                Duration.ofSeconds(10),
                timer -> {
                    throw new AssertionError("no signal came within 10 s");
                });
    }

    @AfterEach
    void close() {
        loop.close();
        assertThat(uncaught).isEmpty();
    }

    @Test
    @Clause("Y-1")
    void on_aSignal_isHeardOfOnTheLoopThread() {
        AtomicReference<Thread> thread = new AtomicReference<>();
        Signals.on(
                loop,
                SIGUSR1,
                signal -> {
                    heard.add(signal);
                    thread.set(Thread.currentThread());
                });
        TestSignals.send(SIGUSR1);
        loop.runOne();
        assertThat(heard).containsExactly(SIGUSR1);
        assertThat(thread).hasValue(Thread.currentThread());
    }

    @Test
    @Clause("Y-1")
    void on_severalSignals_hearsOfEach() {
        Signals pair = Signals.on(loop, SIGUSR1, SIGWINCH, heard::add);
        TestSignals.send(SIGWINCH);
        loop.runOne();
        TestSignals.send(SIGUSR1);
        loop.runOne();
        assertThat(heard).containsExactly(SIGWINCH, SIGUSR1);
        assertThat(pair.signals()).containsExactly(SIGUSR1, SIGWINCH);
        pair.close();

        heard.clear();
        Signals.on(loop, List.of(SIGWINCH, SIGCONT, SIGWINCH), heard::add);
        TestSignals.send(SIGCONT);
        loop.runOne();
        assertThat(heard).containsExactly(SIGCONT);
    }

    @Test
    @Clause("Y-1")
    void on_theSameSignalByMany_eachHearsOfItOnItsLoop() {
        try (EventLoop other = open("other")) {
            guard(other);
            List<String> told = new ArrayList<>();
            Signals.on(loop, SIGUSR1, signal -> told.add("first"));
            Signals.on(loop, SIGUSR1, signal -> told.add("second"));
            Signals.on(other, SIGUSR1, signal -> told.add("other loop"));
            TestSignals.send(SIGUSR1);
            loop.runOne();
            loop.runOne();
            other.runOne();
            assertThat(told).containsExactly("first", "second", "other loop");
        }
    }

    @Test
    @Clause("Y-1")
    void close_ofTheLastTaker_restoresWhatWasThereBefore() {
        Object before = TestHandlers.of(SIGTERM);
        Signals first = Signals.on(loop, SIGTERM, heard::add);
        Signals second = Signals.on(loop, SIGTERM, heard::add);
        assertThat(TestHandlers.of(SIGTERM)).isNotSameAs(before);
        first.close();
        TestSignals.send(SIGTERM);
        loop.runOne();
        assertThat(heard).as("the other one still takes it").containsExactly(SIGTERM);
        second.close();
        // The JVM's own, which ends the process. It has a new wrapper each time.
        assertThat(TestHandlers.of(SIGTERM)).hasToString(before.toString());
    }

    @Test
    @Clause("Y-1")
    void close_restoresAStrangersHandlerFromBefore() {
        try (var stranger = TestHandlers.install(SIGWINCH, () -> {})) {
            Signals signals = Signals.on(loop, SIGWINCH, heard::add);
            assertThat(TestHandlers.of(SIGWINCH)).isNotSameAs(TestHandlers.of(stranger));
            signals.close();
            assertThat(TestHandlers.of(SIGWINCH)).isSameAs(TestHandlers.of(stranger));
        }
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
    }

    @Test
    @Clause("Y-1")
    void close_leavesAStrangersNewerHandlerAlone() {
        Object before = TestHandlers.of(SIGWINCH);
        Signals signals = Signals.on(loop, SIGWINCH, heard::add);
        try (var stranger = TestHandlers.install(SIGWINCH, () -> {})) {
            signals.close();
            assertThat(TestHandlers.of(SIGWINCH)).isSameAs(TestHandlers.of(stranger));
        } finally {
            // The foreign code restored the handler that it found, which has no subscription.
            TestHandlers.put(SIGWINCH, before);
        }
    }

    @Test
    @Clause("Y-1")
    void close_inItsCallback_isTheLastThatIsHeard() {
        AtomicReference<Signals> own = new AtomicReference<>();
        Signals other = Signals.on(loop, SIGUSR1, signal -> {});
        own.set(
                Signals.on(
                        loop,
                        SIGUSR1,
                        signal -> {
                            heard.add(signal);
                            own.get().close();
                        }));
        TestSignals.send(SIGUSR1);
        loop.runOne();
        loop.runOne();
        TestSignals.send(SIGUSR1);
        loop.runOne();
        assertThat(heard).containsExactly(SIGUSR1);
        assertThat(own.get().isOpen()).isFalse();
        assertThat(other.isOpen()).isTrue();
    }

    @Test
    @Clause("Y-1")
    void close_afterTheSignalArrived_keepsTheCallbackFromRunning() {
        List<Signals> both = new ArrayList<>();
        // The one that runs first closes the other, whose delivery is queued already.
        for (int i = 0; i < 2; i++) {
            both.add(
                    Signals.on(
                            loop,
                            SIGUSR1,
                            signal -> {
                                heard.add(signal);
                                both.forEach(Signals::close);
                            }));
        }
        TestSignals.send(SIGUSR1);
        loop.runOne();
        loop.runOne(); // The delivery to the one that is closed.
        assertThat(heard).containsExactly(SIGUSR1);
    }

    @Test
    @Clause("Y-1")
    void on_inACallback_hearsOfTheNextOne() {
        List<String> told = new ArrayList<>();
        Signals.on(
                loop,
                SIGUSR1,
                signal -> {
                    told.add("outer");
                    if (told.size() == 1) {
                        Signals.on(loop, SIGUSR1, inner -> told.add("inner"));
                    }
                });
        TestSignals.send(SIGUSR1);
        loop.runOne();
        TestSignals.send(SIGUSR1);
        loop.runOne();
        loop.runOne();
        assertThat(told).containsExactly("outer", "outer", "inner");
    }

    @Test
    @Clause("Y-1")
    void on_andClose_whileSignalsPourIn_losesNeitherTheLastSignalNorTheOldHandler()
            throws InterruptedException {
        AtomicBoolean enough = new AtomicBoolean();
        Thread sender =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    while (!enough.get()) {
                                        TestSignals.send(SIGWINCH);
                                    }
                                });
        for (int i = 0; i < 200; i++) {
            try (Signals _ = Signals.on(loop, SIGWINCH, heard::add)) {
                heard.clear();
                while (heard.isEmpty()) {
                    loop.runOne();
                }
            }
        }
        enough.set(true);
        sender.join();
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
        heard.clear();
        Signals.on(loop, SIGCONT, heard::add);
        TestSignals.send(SIGCONT);
        while (!heard.contains(SIGCONT)) {
            loop.runOne(); // Deliveries to those that were closed first.
        }
        assertThat(heard).containsExactly(SIGCONT);
    }

    @Test
    @Clause({"Y-1", "L-8"})
    void on_doesNotKeepTheLoopAlive() {
        try (EventLoop empty = open("empty")) {
            Signals.on(empty, SIGUSR1, heard::add);
            assertThat(empty.runUntilEmpty()).isZero();
        }
    }

    @Test
    @Clause("Y-1")
    void loopsEnd_closesWhatIsTaken() {
        long before = OpenDescriptors.count();
        Signals signals;
        try (EventLoop ending = open("ending")) {
            signals = Signals.on(ending, SIGWINCH, heard::add);
        }
        assertThat(signals.isOpen()).isFalse();
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        signals.close();
    }

    @Test
    @Clause("Y-1")
    void shutdown_byTheCallback_endsTheRun() {
        Signals signals =
                Signals.on(loop, SIGTERM, signal -> loop.shutdown(Duration.ofSeconds(10)));
        TestSignals.send(SIGTERM);
        loop.run();
        assertThat(signals.isOpen()).isFalse();
    }

    @Test
    @Clause({"Y-1", "L-10"})
    void callback_thatThrows_keepsNobodyElseFromHearing() {
        RuntimeException failure = new IllegalStateException("by the test");
        Signals.on(
                loop,
                SIGUSR1,
                signal -> {
                    throw failure;
                });
        Signals.on(loop, SIGUSR1, heard::add);
        TestSignals.send(SIGUSR1);
        loop.runOne();
        loop.runOne();
        assertThat(heard).containsExactly(SIGUSR1);
        assertThat(uncaught).containsExactly(failure);
        uncaught.clear();
    }

    @Test
    @Clause({"Y-1", "L-9"})
    void on_andClose_byAnotherThread_throwAndChangeNothing() throws InterruptedException {
        Signals signals = Signals.on(loop, SIGWINCH, heard::add);
        List<Throwable> thrown = new ArrayList<>();
        loop.submit(
                () -> {
                    Thread stranger =
                            Thread.ofPlatform()
                                    .start(
                                            () -> {
                                                thrown.add(
                                                        failureOf(
                                                                () ->
                                                                        Signals.on(
                                                                                loop,
                                                                                SIGCONT,
                                                                                heard::add)));
                                                thrown.add(failureOf(signals::close));
                                            });
                    try {
                        stranger.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        loop.runOne();
        assertThat(thrown).hasSize(2).hasOnlyElementsOfType(WrongThreadException.class);
        assertThat(signals.isOpen()).isTrue();
        assertThat(TestHandlers.of(SIGCONT)).hasToString("SIG_DFL");
    }

    private static Throwable failureOf(Runnable action) {
        try {
            action.run();
            return new AssertionError("nothing was thrown");
        } catch (RuntimeException e) {
            return e;
        }
    }

    @Test
    @Clause("Y-1")
    void on_aLoopThatIsOver_isRefusedAndTakesNothing() {
        loop.close();
        assertThatThrownBy(() -> Signals.on(loop, SIGWINCH, heard::add))
                .isInstanceOf(LoopTerminatedException.class);
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
    }

    @Test
    @Clause("Y-1")
    void on_oneThatCannotBeHad_takesNoneOfThem() {
        assertThatThrownBy(() -> Signals.on(loop, SIGWINCH, SIGQUIT, heard::add))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
    }
}
