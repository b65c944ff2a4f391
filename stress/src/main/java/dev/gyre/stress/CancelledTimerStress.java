package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.LoopConfig;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// Cancellations and the loop's timers: one that ends with a cancellation, and one that brings it.
public final class CancelledTimerStress {
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withHighWaterMark(64).withObserver(new LoopObserver() {});

    private CancelledTimerStress() {}

    private static long timersLeft(Loop loop) {
        loop.runFor(Duration.ZERO); // What was handed to the loop.
        return loop.shutdown(Duration.ZERO).toCompletableFuture().join().timers();
    }

    /// Catches a timer that fires although its cancel had returned before the run, and a canceller that
    /// touches the queue while the loop begins to run.
    @JCStressTest
    @Outcome(id = "fired, 0", expect = ACCEPTABLE, desc = "Then cancelled.")
    @Outcome(id = "did not fire, 0", expect = ACCEPTABLE, desc = "Cancelled in time.")
    @Outcome(expect = FORBIDDEN, desc = "Fired too late, or left in the queue.")
    @State
    public static class CancelAgainstFiring {
        private final Loop loop = Loop.open(CONFIG, new OneBitBackend());
        private final CancellationSource source = new CancellationSource();

        // The loop's actor only.
        private boolean fired;

        // Shared: written by the cancelling actor when cancel has returned, read by the loop's.
        private volatile boolean cancelled;

        public CancelAgainstFiring() {
            loop.every(Duration.ofNanos(1), timer -> fired = true)
                    .cancelOn(source.cancellation())
                    .reschedule(Duration.ZERO);
        }

        @Actor
        public void canceller() {
            source.cancel();
            cancelled = true;
        }

        @Actor
        public void loop(LL_Result result) {
            boolean cancelledBefore = cancelled;
            loop.runFor(Duration.ZERO);
            result.r1 = !fired ? "did not fire" : cancelledBefore ? "fired too late" : "fired";
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r2 = timersLeft(loop);
        }
    }

    /// Catches a deadline whose timer and whose look make a reason each, a listener who is told although
    /// closed before the time was up, or twice, and a timer that outlives the listener.
    @JCStressTest
    @Outcome(id = "one reason, 0", expect = ACCEPTABLE, desc = "The listener left in time.")
    @Outcome(id = "one reason, 1", expect = ACCEPTABLE, desc = "The timer was quicker.")
    @Outcome(expect = FORBIDDEN, desc = "Two reasons, or told twice, or a timer left over.")
    @State
    public static class DeadlineAgainstLookAndClose {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = Loop.open(CONFIG, backend);
        private final AtomicInteger runs = new AtomicInteger();
        private final Cancellation deadline = Cancellation.after(loop, Duration.ofNanos(1));
        private final Registration registration =
                Cancellation.anyOf(deadline, new CancellationSource().cancellation())
                        .onCancel(runs::incrementAndGet);

        // Shared: written by one actor, read by the arbiter.
        private @Nullable CancelledException seen;

        public DeadlineAgainstLookAndClose() {
            loop.runFor(Duration.ZERO); // Schedules the timer.
        }

        @Actor
        public void loop() {
            backend.setTime(1);
            loop.runFor(Duration.ZERO);
        }

        @Actor
        public void looker() {
            seen = deadline.reason();
            registration.close();
        }

        @Arbiter
        @SuppressWarnings("ReferenceEquality") // the same instance every time
        public void rest(LL_Result result) {
            CancelledException reason = deadline.reason();
            boolean one = reason != null && (seen == null || seen == reason);
            result.r1 = one ? "one reason" : seen + " " + reason;
            result.r2 = timersLeft(loop) == 0 ? runs.get() : "a timer is left";
        }
    }

    /// Catches a listener for whom the timer is scheduled too late or never.
    @JCStressTest
    @Outcome(id = "one reason, 1", expect = ACCEPTABLE, desc = "By the timer, or at once.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, or told twice, or a timer left over.")
    @State
    public static class DeadlineAgainstFirstListener {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = Loop.open(CONFIG, backend);
        private final AtomicInteger runs = new AtomicInteger();
        private final Cancellation deadline = Cancellation.after(loop, Duration.ofNanos(1));

        @Actor
        public void loop() {
            backend.setTime(1);
            loop.runFor(Duration.ZERO);
        }

        @Actor
        public void listener() {
            deadline.onCancel(() -> {}).close();
            deadline.onCancel(runs::incrementAndGet);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.runFor(Duration.ZERO); // Schedules the timer, if that is still to be done,
            loop.runFor(Duration.ZERO); // and fires it.
            result.r1 = deadline.isCancelled() ? "one reason" : "none";
            result.r2 = timersLeft(loop) == 0 ? runs.get() : "a timer is left";
        }
    }
}
