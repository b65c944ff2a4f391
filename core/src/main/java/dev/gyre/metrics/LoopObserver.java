package dev.gyre.metrics;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.LoggingObserver;
import dev.gyre.io.Stream;

/// Receives events that an operator should know. Called on the loop thread, so it must not block.
/// An exception is handled like that of a callback.
public interface LoopObserver {
    /// Returns the default observer. It logs floods, each unhandled rejection, and abandoned work.
    /// Recurring floods are logged at the first, second, fourth, eighth occurrence and so on.
    /// Single breaches of a budget are not logged: a burst causes them too, and lasting overload
    /// shows as rejected tasks.
    static LoopObserver logging() {
        return LoggingObserver.INSTANCE;
    }

    /// Called if a tick used up its task budget and some tasks remain. Not called by a shutdown.
    ///
    /// @param remaining the number of queued tasks
    default void onTaskBudgetExceeded(EventLoop loop, int remaining) {}

    /// Called if a tick used up its microtask budget and some remain. They run in the next ticks. A
    /// large burst causes this too, so it is not logged.
    ///
    /// @param remaining the number of queued microtasks
    default void onMicrotaskBudgetExceeded(EventLoop loop, int remaining) {}

    /// Called if 17 consecutive ticks used up the microtask budget and the number of waiting
    /// microtasks did not decrease. Probably each microtask adds another. Called after
    /// [#onMicrotaskBudgetExceeded], and again every 17 ticks while the flood lasts.
    ///
    /// @param remaining the number of queued microtasks
    default void onMicrotaskFlood(EventLoop loop, int remaining) {}

    /// Called if one tick ran so many priority tasks that they probably submit each other forever.
    /// The remaining ones run in the next tick, before all other tasks. Not called by a shutdown.
    ///
    /// @param ran the number of priority tasks run in the tick
    default void onPriorityFlood(EventLoop loop, int ran) {}

    /// Called if a promise was rejected and had no handler at the end of the barrier. Called once
    /// per promise.
    ///
    /// @param promise the rejected promise; [Promise#createdAt()] shows where it was created, with
    ///     [dev.gyre.LoopConfig#withPromiseTracing]
    default void onUnhandledRejection(EventLoop loop, Promise<?> promise, Throwable reason) {}

    /// Called if a buffer of the loop was not released: it became unreachable without
    /// [dev.gyre.io.Buffer#release()], or was still acquired when the loop terminated. Called once
    /// per buffer, and only with the system property `gyre.leaks=on`. The default logs a warning.
    ///
    /// @param acquiredAt the stack trace of the acquisition; its message describes the buffer
    default void onBufferLeak(EventLoop loop, Throwable acquiredAt) {
        LoggingObserver.logLeak(loop, acquiredAt);
    }

    /// Called once for each stream, soon after it was accepted or connected. To observe its end,
    /// add a callback with [Stream#onClose]. Not called again if the stream moves to another loop.
    ///
    /// @param stream may have been closed meanwhile
    default void onStreamOpened(Stream stream) {}

    /// Called when the loop has terminated, on the terminating thread, before the outcome of
    /// [EventLoop#shutdown] completes.
    default void onTerminated(EventLoop loop, ShutdownReport report) {}
}
