package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.Cancellation.Registration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/// A source, its cancellation and its listeners.
@Timeout(60)
class CancellationTest {
    private final CancellationSource source = new CancellationSource();
    private final Cancellation cancellation = source.cancellation();
    private final List<String> log = new ArrayList<>();

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    // ------------------------------------------------------------------ looking

    @Test
    @Clause("P-5")
    void cancellation_beforeItIsCancelled_saysSo() {
        assertThat(cancellation.isCancelled()).isFalse();
        assertThat(cancellation.reason()).isNull();
        cancellation.throwIfCancelled();
        assertThat(source.cancellation()).isSameAs(cancellation);
    }

    @Test
    @Clause("P-5")
    void cancel_withAReason_showsItToEveryoneAsOneInstance() {
        assertThat(source.cancel("the user went away")).isTrue();
        assertThat(cancellation.isCancelled()).isTrue();
        assertThat(cancellation.reason())
                .isSameAs(cancellation.reason())
                .hasMessage("the user went away")
                .hasNoCause();
        assertThat(catchThrowable(cancellation::throwIfCancelled)).isSameAs(cancellation.reason());
    }

    @Test
    @Clause("P-5")
    void cancel_withACause_keepsIt() {
        Throwable cause = new IllegalStateException("disk full");
        assertThat(source.cancel(cause)).isTrue();
        assertThat(cancellation.reason())
                .hasMessage("cancelled by java.lang.IllegalStateException: disk full")
                .hasCause(cause);
    }

    @Test
    void cancel_withoutAReason_saysCancelled() {
        assertThat(source.cancel()).isTrue();
        assertThat(cancellation.reason()).hasMessage("cancelled").hasNoCause();
    }

    @Test
    @Clause("P-5")
    void cancel_again_isFalseAndChangesNothing() {
        source.cancel("first");
        CancelledException first = cancellation.reason();
        assertThat(source.cancel()).isFalse();
        assertThat(source.cancel("second")).isFalse();
        assertThat(source.cancel(new IllegalStateException("third"))).isFalse();
        assertThat(cancellation.reason()).isSameAs(first);
    }

    @Test
    void reason_whoseCauseIsDecided_takesNoOther() {
        source.cancel("first");
        assertThatThrownBy(() -> cancellation.reason().initCause(new IllegalStateException()))
                .isInstanceOf(IllegalStateException.class);
    }

    // ------------------------------------------------------------------ listening

    @Test
    @Clause("P-5")
    void onCancel_severalCallbacks_runInOrderOfRegistrationBeforeCancelReturns() {
        cancellation.onCancel(says("first"));
        cancellation.onCancel(says("second"));
        cancellation.onCancel(says("third"));
        assertThat(log).isEmpty();
        source.cancel();
        assertThat(log).containsExactly("first", "second", "third");
        source.cancel();
        assertThat(log).hasSize(3);
    }

    @Test
    @Clause("P-5")
    void onCancel_onceCancelled_runsAtOnceOnTheCallingThread() {
        source.cancel();
        List<Thread> threads = new ArrayList<>();
        Registration registration =
                cancellation.onCancel(() -> threads.add(Thread.currentThread()));
        assertThat(threads).containsExactly(Thread.currentThread());
        registration.close();
        assertThat(threads).hasSize(1);
    }

    @Test
    @Clause("P-5")
    void onCancel_cancelledElsewhere_runsOnTheThreadThatCancels() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        cancellation.onCancel(() -> threads.add(Thread.currentThread()));
        Thread canceller = Thread.ofPlatform().start(source::cancel);
        canceller.join();
        assertThat(threads).containsExactly(canceller);
    }

    @Test
    @Clause("P-5")
    void close_beforeTheCancel_keepsTheCallbackFromRunning() {
        Registration first = cancellation.onCancel(says("first"));
        Registration second = cancellation.onCancel(says("second"));
        Registration third = cancellation.onCancel(says("third"));
        second.close();
        second.close();
        source.cancel();
        assertThat(log).containsExactly("first", "third");
        first.close();
        third.close();
    }

    @Test
    @Clause("P-5")
    void close_byAnEarlierCallback_keepsALaterOneFromRunning() {
        List<Registration> later = new ArrayList<>();
        cancellation.onCancel(() -> later.forEach(Registration::close));
        later.add(cancellation.onCancel(says("closed")));
        cancellation.onCancel(says("last"));
        source.cancel();
        assertThat(log).containsExactly("last");
    }

    @Test
    void close_ofItselfWhileItRuns_doesNothing() {
        List<Registration> own = new ArrayList<>();
        own.add(
                cancellation.onCancel(
                        () -> {
                            own.forEach(Registration::close);
                            log.add("own");
                        }));
        cancellation.onCancel(says("next"));
        source.cancel();
        assertThat(log).containsExactly("own", "next");
    }

    @Test
    @Clause("P-5")
    void onCancel_fromACallback_runsAtOnce() {
        cancellation.onCancel(
                () -> {
                    log.add("outer");
                    cancellation.onCancel(says("inner"));
                    log.add("outer again");
                    assertThat(source.cancel()).isFalse();
                });
        cancellation.onCancel(says("next"));
        source.cancel();
        assertThat(log).containsExactly("outer", "inner", "outer again", "next");
    }

    @Test
    @Clause("P-5")
    void callbacks_whileTheyRun_holdNoLock() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        Registration running =
                cancellation.onCancel(
                        () -> {
                            inside.countDown();
                            awaitQuietly(mayGoOn);
                        });
        Registration waiting = cancellation.onCancel(says("waiting"));
        Thread canceller = Thread.ofPlatform().start(source::cancel);
        inside.await();
        // None of these waits for the cancelling thread, which blocks in a callback.
        assertThat(cancellation.isCancelled()).isTrue();
        assertThat(source.cancel()).isFalse();
        cancellation.onCancel(says("late"));
        running.close();
        waiting.close();
        mayGoOn.countDown();
        canceller.join();
        assertThat(log).containsExactly("late");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ------------------------------------------------------------------ failing

    @Test
    @Clause("P-5")
    void callback_thatThrows_keepsNoOtherFromRunningAndIsThrownByCancel() {
        RuntimeException first = new IllegalStateException("first");
        Error second = new AssertionError("second");
        cancellation.onCancel(says("a"));
        cancellation.onCancel(
                () -> {
                    throw first;
                });
        cancellation.onCancel(says("b"));
        cancellation.onCancel(
                () -> {
                    throw second;
                });
        cancellation.onCancel(
                () -> {
                    throw first;
                });
        cancellation.onCancel(says("c"));
        assertThatThrownBy(source::cancel).isSameAs(first).hasSuppressedException(second);
        assertThat(first.getSuppressed()).containsExactly(second);
        assertThat(log).containsExactly("a", "b", "c");
        assertThat(cancellation.isCancelled()).isTrue();
        assertThat(source.cancel()).isFalse();
    }

    @Test
    void onCancel_whoseCallbackThrowsAtOnce_throwsToItsCaller() {
        source.cancel();
        RuntimeException thrown = new IllegalStateException("at once");
        assertThatThrownBy(
                        () ->
                                cancellation.onCancel(
                                        () -> {
                                            throw thrown;
                                        }))
                .isSameAs(thrown);
    }

    @Test
    void misuse_throwsAtOnceAndSaysWhat() {
        assertThatThrownBy(() -> cancellation.onCancel(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("callback");
        assertThatThrownBy(() -> Cancellation.none().onCancel(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("callback");
        assertThatThrownBy(() -> source.cancel((String) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("reason");
        assertThatThrownBy(() -> source.cancel((Throwable) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("cause");
        assertThat(cancellation.isCancelled()).isFalse();
    }

    // ------------------------------------------------------------------ keeping

    @Test
    void none_isNeverCancelledAndRunsNothing() {
        Cancellation none = Cancellation.none();
        try (Registration registration = none.onCancel(says("never"))) {
            assertThat(registration).isNotNull();
        }
        none.throwIfCancelled();
        assertThat(none.isCancelled()).isFalse();
        assertThat(none.reason()).isNull();
        assertThat(log).isEmpty();
        assertThat(Cancellation.none()).isSameAs(none);
    }

    @Test
    @Clause("P-5")
    void registration_closed_leavesNothingOfItsCallback() {
        List<Registration> kept = new ArrayList<>();
        Reachability callback =
                Reachability.of(
                        () -> {
                            byte[] load = new byte[1_000];
                            kept.add(cancellation.onCancel(() -> log.add("" + load.length)));
                            return load;
                        });
        assertThat(callback.isLost()).as("a listener's load, while it waits").isFalse();
        kept.getFirst().close();
        callback.assertLost("the callback of a registration that is closed, but kept");
        assertThat(kept).hasSize(1);
    }

    @Test
    @Clause("P-5")
    void registration_whoseCallbackHasRun_leavesNothingOfIt() {
        List<Registration> kept = new ArrayList<>();
        Reachability callback =
                Reachability.of(
                        () -> {
                            byte[] load = new byte[1_000];
                            kept.add(cancellation.onCancel(() -> log.add("" + load.length)));
                            return load;
                        });
        source.cancel();
        callback.assertLost("the callback that has run, of a registration that is kept");
        assertThat(kept).hasSize(1);
    }

    @Test
    @Clause("P-5")
    void registrations_aMillionOpenedAndClosed_closeInConstantTimeAndLeaveOrderIntact() {
        List<Registration> open = new ArrayList<>();
        for (int i = 0; i < 1_000_000; i++) {
            // In the middle of a thousand: a list that is searched would take minutes.
            open.add(cancellation.onCancel(says("closed")));
            if (open.size() == 1_000) {
                for (int j = 0; j < open.size(); j++) {
                    open.get((j * 7) % 1_000).close();
                }
                open.clear();
            }
        }
        cancellation.onCancel(says("first"));
        cancellation.onCancel(says("second"));
        source.cancel();
        assertThat(log).containsExactly("first", "second");
    }
}
