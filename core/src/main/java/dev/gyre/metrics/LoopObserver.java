package dev.gyre.metrics;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.LoggingObserver;

/// Hears of what an operator should know. Called on the loop thread, so it must not block; what it throws
/// is treated like a failure of a callback.
public interface LoopObserver {
    /// Logs floods, each unhandled rejection, and abandoned work. Recurring floods are logged at
    /// the first, second, fourth, eighth occurrence and so on. Single breaches of a budget are not
    /// logged: a burst causes them too, and lasting overload shows as rejected tasks.
    static LoopObserver logging() {
        return LoggingObserver.INSTANCE;
    }

    /// A tick used up its budget of tasks and some remain.
    ///
    /// @param loop the loop that tells
    /// @param remaining how many tasks wait
    default void onOverload(EventLoop loop, int remaining) {}

    /// Called if a tick used up its microtask budget and some remain. They run in the next ticks. A
    /// large burst causes this too, so it is not logged.
    ///
    /// @param loop the loop that tells
    /// @param remaining how many microtasks wait
    default void onMicrotaskBreach(EventLoop loop, int remaining) {}

    /// Called if 17 consecutive ticks used up the microtask budget and the number of waiting
    /// microtasks did not decrease. Probably each microtask adds another. Called after
    /// [#onMicrotaskBreach], and again every 17 ticks while the flood lasts.
    ///
    /// @param loop the loop
    /// @param remaining how many microtasks wait
    default void onMicrotaskFlood(EventLoop loop, int remaining) {}

    /// One tick ran so many priority tasks that they probably submit each other for ever. The rest waits
    /// for the next tick, still before all other tasks.
    ///
    /// @param loop the loop that tells
    /// @param ran how many ran in the tick
    default void onPriorityFlood(EventLoop loop, int ran) {}

    /// A promise was rejected, and by the end of the barrier nothing had been attached to it that hears of that.
    /// Reported once for each promise.
    ///
    /// @param loop the loop that tells
    /// @param promise the one that was rejected; [Promise#createdAt()] says where it was made, with
    ///     [dev.gyre.LoopConfig#withPromiseTracing]
    /// @param reason what it was rejected with
    default void onUnhandledRejection(EventLoop loop, Promise<?> promise, Throwable reason) {}

    /// A buffer of the loop's was not given back: it became unreachable without
    /// [dev.gyre.io.Buffer#release()], or the loop has ended and it is still out. Reported once
    /// for each, and only with the system property `gyre.leaks=on`. Logged as a warning unless
    /// this is overridden.
    ///
    /// @param loop the loop that tells
    /// @param takenAt where it was taken, and in its message what it is
    default void onBufferLeak(EventLoop loop, Throwable takenAt) {
        LoggingObserver.logLeak(loop, takenAt);
    }

    /// The loop has ended. Called by the thread that ended it, before the outcome is handed out.
    ///
    /// @param loop the loop that ended
    /// @param report how it ended
    default void onTerminated(EventLoop loop, ShutdownReport report) {}
}
