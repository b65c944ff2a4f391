package dev.gyre;

import dev.gyre.internal.time.LoopTimer;

import java.time.Duration;

/// A callback with a deadline. Fires never early; when several are due, in order of deadline, and among
/// equal deadlines in order of scheduling.
///
/// All methods are loop-confined: call them on the loop thread, or while the loop is not running.
public sealed interface Timer permits LoopTimer {
    /// Takes the timer out of the schedule. Idempotent, and effective even when the timer is due in
    /// this very tick and has not run yet.
    ///
    /// @return true if the timer was scheduled
    boolean cancel();

    /// Gives the timer another deadline, the delay from [EventLoop#nowNanos()] on, whether it is scheduled,
    /// has fired or was cancelled. O(1), and nothing is allocated: one timer can be used for ever. A
    /// repeating timer keeps its period from the new deadline on.
    ///
    /// @return this timer
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be represented
    /// @throws LoopTerminatedException if the loop is over
    Timer reschedule(Duration delay);

    /// Whether the timer will fire if nothing else happens. A one-shot timer is no longer scheduled
    /// inside its own callback; a repeating one is, for its next period.
    boolean isScheduled();

    /// The absolute monotonic time at which the timer fires, or fired last, on the scale of
    /// [EventLoop#nowNanos()].
    ///
    /// Inside its callback a repeating timer already shows its next deadline; see
    /// [#firedDeadlineNanos()].
    long deadlineNanos();

    /// The deadline that the latest firing was for. `System.nanoTime()` minus this, taken in the
    /// callback, is the timer's lateness.
    long firedDeadlineNanos();

    /// Cancels the timer when the cancellation is cancelled, at once if it is already: from then on the timer
    /// is not scheduled and its callback does not begin, whichever thread cancels.
    ///
    /// The timer is bound for its life: once cancelled in this way, it stays unscheduled however often
    /// it is rescheduled. Bound to several cancellations, it ends with the first of them. A cancellation
    /// knows of the timer only while it is scheduled, so there is nothing to take back.
    ///
    /// A `cancel` on another thread than the loop's tells the loop, which until its next turn still holds the
    /// memory of the timer.
    ///
    /// @return this timer
    Timer cancelOn(Cancellation cancellation);

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this timer is scheduled.
    ///
    /// @return this timer
    Timer unreference();

    /// Takes [#unreference()] back.
    ///
    /// @return this timer
    Timer reference();
}
