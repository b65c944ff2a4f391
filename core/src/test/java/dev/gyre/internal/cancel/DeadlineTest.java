package dev.gyre.internal.cancel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.AnotherThread;
import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Reachability;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

/// Deadlines as cancellations, with a virtual clock.
@Timeout(60)
class DeadlineTest {
    private static final long MILLI = 1_000_000;
    private static final Duration DELAY = Duration.ofMillis(200);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final List<Throwable> uncaught = new ArrayList<>();
    private final Loop loop =
            Loop.open(
                    LoopConfig.DEFAULT.withUncaughtHandler((_, thrown) -> uncaught.add(thrown)),
                    backend);
    private final List<String> log = new ArrayList<>();

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    private Cancellation deadline() {
        return Cancellation.after(loop, DELAY);
    }

    private int timers() {
        return (int) loop.shutdown(Duration.ZERO).toCompletableFuture().join().timers();
    }

    // ------------------------------------------------------------------ looking

    @Test
    @Clause("P-5")
    void deadline_isSeenByLookingAsSoonAsTheClockSaysSo() {
        Cancellation deadline = deadline();
        backend.advance(200 * MILLI - 1);
        assertThat(deadline.isCancelled()).isFalse();
        backend.advance(1);
        assertThat(deadline.isCancelled()).isTrue();
    }

    @Test
    @Clause("P-5")
    void deadline_passedInTheMiddleOfACallback_isSeenThere() {
        Cancellation deadline = deadline();
        loop.submit(
                () -> {
                    assertThat(deadline.isCancelled()).isFalse();
                    backend.advance(200 * MILLI);
                    assertThat(deadline.isCancelled()).isTrue();
                    log.add("seen");
                });
        loop.runUntilEmpty();
        assertThat(uncaught).isEmpty();
        assertThat(log).containsExactly("seen");
    }

    @Test
    @Clause("P-5")
    void reason_namesTheDelayAndIsCausedByATimeout() {
        Cancellation deadline = deadline();
        backend.advance(200 * MILLI);
        CancelledException reason = deadline.reason();
        assertThat(reason)
                .isSameAs(deadline.reason())
                .hasMessage("the deadline of 200 ms passed")
                .hasCauseInstanceOf(TimeoutException.class);
        assertThat(messageAfter(Duration.ofMinutes(2))).contains("of 120 s passed");
        assertThat(messageAfter(Duration.ofMillis(1_500))).contains("of 1500 ms passed");
        assertThat(messageAfter(Duration.ofNanos(2_000))).contains("of 2 µs passed");
        assertThat(messageAfter(Duration.ofNanos(1_001))).contains("of 1001 ns passed");
        assertThat(messageAfter(Duration.ZERO)).contains("of 0 s passed");
    }

    private String messageAfter(Duration delay) {
        Cancellation deadline = Cancellation.after(loop, delay);
        backend.advance(delay.toNanos());
        CancelledException reason = deadline.reason();
        assertThat(reason).isNotNull();
        return "" + reason.getMessage();
    }

    @Test
    @Clause("P-5")
    void deadline_ofALoopThatIsOver_stillShowsByLooking() {
        Cancellation deadline = deadline();
        deadline.onCancel(says("never")); // Nobody is left to run it.
        loop.close();
        assertThat(deadline.isCancelled()).isFalse();
        try (Registration registration = deadline.onCancel(says("never either"))) {
            assertThat(registration).isNotNull();
        }
        backend.advance(200 * MILLI);
        assertThat(deadline.isCancelled()).isTrue();
        deadline.onCancel(says("at once"));
        assertThat(log).containsExactly("at once");
    }

    @Test
    void after_misused_throwsAtOnceAndSaysTheValue() {
        assertThatThrownBy(() -> Cancellation.after(loop, Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1 ms");
        assertThatThrownBy(() -> Cancellation.after(loop, Duration.ofNanos(Long.MAX_VALUE)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot be represented");
        assertThatThrownBy(() -> Cancellation.after(null, DELAY))
                .isInstanceOf(NullPointerException.class);
    }

    // ------------------------------------------------------------------ listening

    @Test
    @Clause("P-5")
    void onCancel_beforeTheRun_isToldOnTheLoopThreadWhenTimeIsUp() {
        Cancellation deadline = deadline();
        deadline.onCancel(() -> log.add("told at " + backend.nanoTime() / MILLI));
        deadline.onCancel(() -> log.add("on the loop: " + loop.isLoopThread()));
        loop.runFor(Duration.ofMillis(199));
        assertThat(log).isEmpty();
        loop.runFor(Duration.ofMillis(2));
        assertThat(log).containsExactly("told at 200", "on the loop: true");
        loop.runFor(Duration.ofMillis(500));
        assertThat(log).hasSize(2);
    }

    @Test
    @Clause("P-5")
    void onCancel_onTheLoopThread_isToldWhenTimeIsUp() {
        Cancellation deadline = deadline();
        loop.submit(() -> deadline.onCancel(says("told")));
        loop.runFor(Duration.ofMillis(201));
        assertThat(log).containsExactly("told");
    }

    @Test
    @Clause("P-5")
    void onCancel_whileTheLoopWaits_wakesItToScheduleTheDeadline() {
        Cancellation deadline = deadline();
        backend.duringWait(() -> AnotherThread.runs(() -> deadline.onCancel(says("told"))));
        loop.runFor(Duration.ofMillis(201));
        assertThat(backend.wakeups()).isEqualTo(1);
        assertThat(log).containsExactly("told");
    }

    @Test
    @Clause("P-5")
    void look_thatSeesTheTimeUp_leavesTheCallbacksToTheLoop() {
        Cancellation deadline = deadline();
        deadline.onCancel(says("told"));
        loop.runSome();
        backend.advance(200 * MILLI);
        assertThat(deadline.isCancelled()).isTrue();
        CancelledException seen = deadline.reason();
        assertThat(log).as("a query runs no callbacks").isEmpty();
        deadline.onCancel(says("late"));
        assertThat(log).containsExactly("late");
        loop.runFor(Duration.ZERO);
        assertThat(log).containsExactly("late", "told");
        assertThat(deadline.reason()).isSameAs(seen);
    }

    @Test
    @Clause("P-5")
    void close_afterALookHasSeenTheTimeUp_keepsTheCallbackFromRunning() {
        Cancellation deadline = deadline();
        Registration registration = deadline.onCancel(says("never"));
        loop.runSome();
        backend.advance(200 * MILLI);
        assertThat(deadline.isCancelled()).isTrue();
        registration.close();
        loop.runFor(Duration.ofMillis(1));
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void callback_thatThrows_goesToTheLoopsHandlerAndKeepsNoOtherFromRunning() {
        RuntimeException thrown = new IllegalStateException("thrown");
        Cancellation deadline = deadline();
        deadline.onCancel(
                () -> {
                    throw thrown;
                });
        deadline.onCancel(says("other"));
        loop.runFor(Duration.ofMillis(201));
        assertThat(log).containsExactly("other");
        assertThat(uncaught).containsExactly(thrown);
    }

    @Test
    @Clause("P-5")
    void anyOf_aDeadlineAndASource_endsWithTheFirst() {
        CancellationSource source = new CancellationSource();
        Cancellation slow = Cancellation.anyOf(source.cancellation(), deadline());
        slow.onCancel(says("slow"));
        loop.runFor(Duration.ofMillis(201));
        assertThat(log).containsExactly("slow");
        assertThat(slow.reason()).hasMessage("the deadline of 200 ms passed");

        Cancellation quick = Cancellation.anyOf(source.cancellation(), deadline());
        quick.onCancel(says("quick"));
        loop.runFor(Duration.ZERO);
        source.cancel("source");
        assertThat(log).containsExactly("slow", "quick");
        loop.runFor(Duration.ofMillis(500));
        assertThat(log).hasSize(2);
        assertThat(quick.reason()).hasMessage("source");
    }

    // ------------------------------------------------------------------ keeping

    @Test
    @Clause({"P-5", "L-8"})
    void deadline_withListeners_doesNotKeepTheLoopAlive() {
        deadline().onCancel(says("never"));
        loop.runUntilEmpty();
        assertThat(backend.nanoTime()).isLessThan(200 * MILLI);
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void deadline_withoutListeners_hasNoTimer() {
        Cancellation deadline = deadline();
        assertThat(deadline.isCancelled()).isFalse();
        loop.runFor(Duration.ofMillis(1));
        assertThat(timers()).isZero();
    }

    @Test
    @Clause("P-5")
    void deadline_withAListener_hasOneTimer() {
        Cancellation deadline = deadline();
        deadline.onCancel(says("a"));
        deadline.onCancel(says("b"));
        loop.runFor(Duration.ofMillis(1));
        assertThat(timers()).isEqualTo(1);
    }

    @Test
    @Clause("P-5")
    void deadline_whoseLastListenerClosed_hasNoTimer() {
        Cancellation deadline = deadline();
        Registration first = deadline.onCancel(says("a"));
        Registration second = Cancellation.anyOf(deadline, other()).onCancel(says("b"));
        loop.runFor(Duration.ofMillis(1));
        first.close();
        second.close();
        loop.runFor(Duration.ofMillis(1));
        assertThat(timers()).isZero();
    }

    private static Cancellation other() {
        return new CancellationSource().cancellation();
    }

    @Test
    @Clause("P-5")
    void deadline_whoseListenersComeAndGo_asksTheLoopOnce() {
        Cancellation deadline = deadline();
        for (int i = 0; i < 100_000; i++) {
            deadline.onCancel(says("never")).close();
        }
        assertThat(loop.metrics().queuedPriorityTasks()).isEqualTo(1);
        deadline.onCancel(says("told"));
        loop.runFor(Duration.ofMillis(201));
        assertThat(log).containsExactly("told");
    }

    @Test
    @Clause("P-5")
    void deadline_nobodyLooksAt_isNotKept() {
        Reachability deadline =
                Reachability.of(
                        () -> {
                            Cancellation made = deadline();
                            made.onCancel(says("never")).close();
                            return made;
                        });
        loop.runFor(Duration.ofMillis(1));
        deadline.assertLost("a deadline whose listener is closed");
    }

    @Test
    @Clause("P-5")
    void deadline_onTheRealClock_tellsItsListeners() {
        try (EventLoop real = EventLoop.open()) {
            Cancellation deadline = Cancellation.after(real, Duration.ofMillis(1));
            deadline.onCancel(real::stop);
            real.run();
            assertThat(deadline.reason()).hasMessage("the deadline of 1 ms passed");
        }
    }
}
