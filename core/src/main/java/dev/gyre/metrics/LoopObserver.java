package dev.gyre.metrics;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;

/// Hears of what an operator should know. Called on the loop thread, so it must not block; what it throws
/// is treated like a failure of a callback.
public interface LoopObserver {
    /// Logs floods, each unhandled rejection, and abandoned work. Floods that recur are logged ever more
    /// sparsely: the first occurrence, the second, the fourth, the eighth and so on. A budget that is used
    /// up once is not logged: a burst does that too, and lasting overload shows as refused tasks.
    static LoopObserver logging() {
        return LoggingObserver.INSTANCE;
    }

    /// A tick used up its budget of tasks and some remain.
    ///
    /// @param loop the loop that tells
    /// @param remaining how many tasks wait
    default void onOverload(EventLoop loop, int remaining) {}

    /// A tick used up its budget of microtasks and some remain. They run in the next ticks. A large
    /// burst does this, so it is not logged.
    ///
    /// @param loop the loop that tells
    /// @param remaining how many microtasks wait
    default void onMicrotaskBreach(EventLoop loop, int remaining) {}

    /// The budget of microtasks was used up in 17 ticks in a row, and no fewer wait than in the first:
    /// probably a microtask adds another for ever. Called after [#onMicrotaskBreach], and again every
    /// 17 ticks while it lasts.
    ///
    /// @param loop the loop that tells
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
