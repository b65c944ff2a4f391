package dev.gyre;

import dev.gyre.internal.time.LoopTimer;

import java.time.Duration;

/// A callback with a deadline. It never fires early. Due timers fire in order of deadline, and
/// among equal deadlines in order of scheduling.
///
/// All methods are loop-confined: call them on the loop thread, or while the loop is not running.
///
/// Methods that return a `Timer` return this one.
public sealed interface Timer permits LoopTimer {
    /// Cancels the timer. Idempotent. Also effective if the timer is due in the current tick and
    /// has not fired yet.
    ///
    /// @return true if the timer was scheduled
    boolean cancel();

    /// Schedules the timer again, with a delay from [EventLoop#nowNanos()], whether it is
    /// scheduled, fired or cancelled. Takes constant time and allocates nothing, so one timer can
    /// be reused forever. A repeating timer keeps its period from the new deadline on.
    ///
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be
    ///     represented
    /// @throws LoopTerminatedException if the loop is terminated
    Timer reschedule(Duration delay);

    /// Returns whether the timer is scheduled to fire. Inside its own callback, a one-shot timer is
    /// not scheduled; a repeating timer is, for its next period.
    boolean isScheduled();

    /// Returns the absolute monotonic time at which the timer fires or last fired, on the scale of
    /// [EventLoop#nowNanos()].
    ///
    /// Inside its callback, a repeating timer returns its next deadline; see
    /// [#firedDeadlineNanos()].
    long deadlineNanos();

    /// Returns the deadline of the latest firing. In the callback, `System.nanoTime()` minus this
    /// value is the lateness of the timer.
    long firedDeadlineNanos();

    /// Cancels the timer when the cancellation is cancelled, or at once if it already is. From then
    /// on the timer is not scheduled and its callback does not begin, on whichever thread it was
    /// cancelled.
    ///
    /// The binding is permanent: once cancelled this way, [#reschedule] does not schedule the
    /// timer. A timer bound to several cancellations is cancelled by the first. A cancellation
    /// references the timer only while it is scheduled, so nothing has to be released.
    ///
    /// If another thread cancels, the loop releases the timer's memory in its next tick.
    Timer cancelOn(Cancellation cancellation);

    /// Lets `runUntilEmpty` and `run(DRAINED)` return while this timer is scheduled.
    Timer unreference();

    /// Reverts [#unreference()].
    Timer reference();
}
