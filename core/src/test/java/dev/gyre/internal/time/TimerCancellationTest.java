package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.AnotherThread;
import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.Reachability;
import dev.gyre.Timer;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Timers bound to a cancellation.
@Timeout(60)
class TimerCancellationTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final List<Throwable> uncaught = new ArrayList<>();
    private final Loop loop =
            Loop.open(
                    LoopConfig.DEFAULT.withUncaughtHandler((_, thrown) -> uncaught.add(thrown)),
                    backend);
    private final CancellationSource source = new CancellationSource();
    private final Cancellation cancellation = source.cancellation();
    private final List<String> log = new ArrayList<>();

    private Timer timer(Duration delay, String word) {
        return loop.after(delay, timer -> log.add(word));
    }

    // ------------------------------------------------------------------ cancelling

    @Test
    @Clause("P-5")
    void cancel_beforeTheRun_endsTheTimerAtOnce() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        assertThat(timer.isScheduled()).isTrue();
        source.cancel();
        assertThat(timer.isScheduled()).isFalse();
        assertThat(timer.cancel()).as("it was not scheduled").isFalse();
        loop.runUntilEmpty();
        assertThat(backend.nanoTime()).isLessThan(SECOND.toNanos());
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void cancel_onTheLoopThread_endsTheTimerAtOnce() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        loop.submit(
                () -> {
                    source.cancel();
                    assertThat(timer.isScheduled()).isFalse();
                    log.add("checked");
                });
        loop.runUntilEmpty();
        assertThat(uncaught).isEmpty();
        assertThat(log).containsExactly("checked");
    }

    @Test
    @Clause({"P-5", "T-4"})
    void cancel_byATimerOfTheSameTick_keepsTheOtherFromFiring() {
        loop.after(SECOND, timer -> source.cancel());
        timer(SECOND, "never").cancelOn(cancellation);
        timer(SECOND, "unbound");
        loop.runUntilEmpty();
        assertThat(log).containsExactly("unbound");
    }

    @Test
    @Clause("P-5")
    void cancel_byAnotherThreadWhileTheLoopWaits_endsTheWait() {
        Timer timer = timer(Duration.ofHours(1), "never").cancelOn(cancellation);
        backend.duringWait(
                () -> {
                    AnotherThread.runs(source::cancel);
                    log.add("scheduled: " + timer.isScheduled());
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("scheduled: false");
        assertThat(timer.isScheduled()).isFalse();
        assertThat(backend.nanoTime()).isLessThan(SECOND.toNanos());
        assertThat(timers()).isZero();
    }

    private long timers() {
        return loop.shutdown(Duration.ZERO).toCompletableFuture().join().timers();
    }

    @Test
    @Clause("P-5")
    void cancel_byAnotherThreadWhenTheTimerIsDue_keepsItFromFiring() {
        // Timers run before priority tasks, so the notification arrives after the timer is due.
        timer(SECOND, "never").cancelOn(cancellation);
        backend.advance(SECOND.toNanos());
        AnotherThread.runs(source::cancel);
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void cancel_byAnotherThreadWhileNoneRunsTheLoop_endsTheTimerAtOnce() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        AnotherThread.runs(source::cancel);
        assertThat(timer.isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(backend.nanoTime()).isLessThan(SECOND.toNanos());
        assertThat(log).isEmpty();
        assertThat(timers()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancelOn_cancelledAlready_takesTheTimerOutAtOnce() {
        source.cancel();
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        assertThat(timer.isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void cancel_ofARepeatingTimer_endsIt() {
        Timer timer =
                loop.every(
                                SECOND,
                                each -> {
                                    log.add("tick");
                                    if (log.size() == 3) {
                                        source.cancel();
                                    }
                                })
                        .cancelOn(cancellation);
        loop.runUntilEmpty();
        assertThat(log).hasSize(3);
        assertThat(timer.isScheduled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void cancel_ofARepeatingTimerByAnotherThreadWhenDue_endsIt() {
        Timer timer = loop.every(SECOND, each -> log.add("never")).cancelOn(cancellation);
        backend.advance(SECOND.toNanos());
        AnotherThread.runs(source::cancel);
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
        assertThat(timer.isScheduled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void deadline_ofATimer_endsIt() {
        loop.every(SECOND, each -> log.add("tick"))
                .cancelOn(Cancellation.after(loop, Duration.ofMillis(2_500)));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("tick", "tick");
    }

    @Test
    void cancelOn_none_changesNothing() {
        timer(SECOND, "fired").cancelOn(Cancellation.none());
        loop.runUntilEmpty();
        assertThat(log).containsExactly("fired");
    }

    @Test
    @Clause("P-5")
    void cancelOn_several_endsWithTheFirst() {
        CancellationSource another = new CancellationSource();
        Timer timer =
                timer(SECOND, "never").cancelOn(cancellation).cancelOn(another.cancellation());
        another.cancel();
        assertThat(timer.isScheduled()).isFalse();
        assertThat(timer.reschedule(SECOND).isScheduled()).isFalse();
        Timer second =
                timer(SECOND, "never")
                        .cancelOn(cancellation)
                        .cancelOn(new CancellationSource().cancellation());
        source.cancel();
        assertThat(second.isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause({"P-5", "L-9"})
    void cancelOn_misused_throwsAtOnce() {
        Timer timer = timer(SECOND, "fired");
        assertThatThrownBy(() -> timer.cancelOn(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("cancellation");
        loop.submit(
                () ->
                        AnotherThread.runs(
                                () ->
                                        assertThatThrownBy(() -> timer.cancelOn(cancellation))
                                                .isInstanceOf(WrongThreadException.class)
                                                .satisfies(_ -> log.add("refused"))));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("refused", "fired");
    }

    // ------------------------------------------------------------------ rescheduling

    @Test
    @Clause("P-5")
    void reschedule_afterTheCancellation_leavesItUnscheduled() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        source.cancel();
        assertThat(timer.reschedule(SECOND)).isSameAs(timer);
        assertThat(timer.isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void reschedule_afterAnotherThreadsCancelButBeforeTheLoopIsTold_leavesItUnscheduled() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        AnotherThread.runs(source::cancel);
        assertThat(timer.reschedule(Duration.ZERO).isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void reschedule_ofAFiredTimer_isBoundStill() {
        Timer timer = timer(SECOND, "fired").cancelOn(cancellation);
        loop.runUntilEmpty();
        timer.reschedule(SECOND);
        timer.reschedule(SECOND);
        source.cancel();
        assertThat(timer.isScheduled()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("fired");
    }

    @Test
    @Clause("P-5")
    void reschedule_fromItsOwnCallback_isBoundStill() {
        loop.after(
                        SECOND,
                        timer -> {
                            log.add("fired");
                            timer.reschedule(SECOND);
                            if (log.size() == 2) {
                                source.cancel();
                                assertThat(timer.isScheduled()).isFalse();
                            }
                        })
                .cancelOn(cancellation);
        loop.runUntilEmpty();
        assertThat(uncaught).isEmpty();
        assertThat(log).hasSize(2);
    }

    @Test
    @Clause("P-5")
    void cancelOn_aTimerThatIsNotScheduled_countsFromItsNextSchedule() {
        Timer timer = timer(SECOND, "fired");
        timer.cancel();
        timer.cancelOn(cancellation).reschedule(SECOND);
        source.cancel();
        assertThat(timer.isScheduled()).isFalse();
    }

    // ------------------------------------------------------------------ keeping

    @Test
    @Clause("P-5")
    void cancellation_thatOutlivesItsTimers_keepsNoneThatFired() {
        Reachability fired = Reachability.of(() -> timer(SECOND, "fired").cancelOn(cancellation));
        loop.runUntilEmpty();
        fired.assertLost("a bound timer that has fired");
        assertThat(cancellation.isCancelled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void cancellation_thatOutlivesItsTimers_keepsNoneThatWasCancelled() {
        Reachability cancelled =
                Reachability.of(
                        () -> {
                            Timer timer = timer(SECOND, "never").cancelOn(cancellation);
                            timer.reschedule(SECOND.multipliedBy(2));
                            timer.cancel();
                            return timer;
                        });
        cancelled.assertLost("a bound timer that was cancelled");
        assertThat(cancellation.isCancelled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void cancelOn_anotherWhenTheFirstWasCancelledElsewhere_keepsNoTimer() {
        List<Reachability> bound = new ArrayList<>();
        loop.submit(
                () ->
                        bound.add(
                                Reachability.of(
                                        () -> {
                                            Timer timer = timer(SECOND, "never");
                                            timer.cancelOn(cancellation);
                                            AnotherThread.runs(source::cancel);
                                            // The loop processes it here.
                                            return timer.cancelOn(
                                                    new CancellationSource().cancellation());
                                        })));
        loop.runUntilEmpty();
        assertThat(uncaught).isEmpty();
        bound.getFirst().assertLost("a timer whose cancellation came while it was bound again");
        assertThat(log).isEmpty();
        assertThat(loop.metrics().timers()).isZero();
    }

    @Test
    @Clause({"P-5", "S-4"})
    void cancellation_thatOutlivesLoops_keepsNothingOfThem() {
        Reachability dead =
                Reachability.of(
                        () -> {
                            Loop other = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
                            other.after(SECOND, timer -> {}).cancelOn(cancellation);
                            other.every(SECOND, timer -> {}).cancelOn(cancellation);
                            other.close();
                            return other;
                        });
        dead.assertLost("a closed loop with bound timers");
        assertThat(source.cancel()).isTrue();
    }

    @Test
    @Clause({"P-5", "S-4"})
    void cancelOn_onceTheLoopIsOver_keepsNothingOfIt() {
        Reachability dead =
                Reachability.of(
                        () -> {
                            Loop other = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
                            Timer left = other.after(SECOND, timer -> {});
                            other.close();
                            left.cancelOn(cancellation);
                            return other;
                        });
        dead.assertLost("a closed loop with a timer that was bound afterwards");
        assertThat(source.cancel()).isTrue();
    }

    @Test
    @Clause({"P-5", "S-4"})
    void cancel_onceTheLoopIsOver_doesNothing() {
        Timer timer = timer(SECOND, "never").cancelOn(cancellation);
        loop.close();
        timer.cancelOn(new CancellationSource().cancellation());
        assertThat(source.cancel()).isTrue();
        AnotherThread.runs(() -> assertThat(source.cancel()).isFalse());
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("T-5")
    void timer_takesOneCacheLine() {
        int bytes = 12;
        for (Field field : LoopTimer.class.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                bytes += size(field.getType());
            }
        }
        assertThat(bytes)
                .as("bytes of a timer: a million of them are normal, so keep it within 64")
                .isLessThanOrEqualTo(64);
    }

    private static int size(Class<?> type) {
        return type == long.class ? Long.BYTES : type == boolean.class ? 1 : Integer.BYTES;
    }
}
