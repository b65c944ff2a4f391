package dev.gyre;

import dev.gyre.internal.cancel.CancellationToken;
import dev.gyre.internal.cancel.DeadlineToken;
import dev.gyre.internal.cancel.LinkedToken;
import dev.gyre.internal.cancel.NeverCancelled;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Signals that a result is no longer needed. Long-running code accepts one and queries it or
/// registers a callback. A [CancellationSource] or a deadline cancels it, once and permanently.
///
/// ```java
/// var source = new CancellationSource();
/// var either = Cancellation.anyOf(source.cancellation(), Cancellation.after(loop, ofSeconds(2)));
/// loop.every(ofMillis(100), timer -> IO.println("still wanted")).cancelOn(either);
/// source.cancel("the user went away");
/// ```
///
/// Nothing has to be released. A linked cancellation is referenced by its parents only while it has
/// listeners. A deadline is scheduled only while it has listeners.
///
/// **Threads.** All methods may be called from any thread. Queries never wait for a thread that
/// cancels and never run a callback.
///
/// **Order.** Callbacks run on the thread that cancels, in order of registration, before its
/// `cancel` returns. Callbacks of a deadline run on the loop thread. The order between callbacks of
/// linked cancellations is unspecified.
///
/// **Failure.** If a callback throws, the others still run. Then `cancel` throws the first
/// throwable, with the others suppressed. The loop's [FailurePolicy] handles exceptions of a
/// deadline's callbacks.
public sealed interface Cancellation permits NeverCancelled, CancellationToken {

    /// Returns a cancellation that is never cancelled. Allocates nothing.
    static Cancellation none() {
        return NeverCancelled.INSTANCE;
    }

    /// Returns a cancellation that is cancelled as soon as one of the given ones is, with the same
    /// reason. If several are cancelled before the first query, it has the reason of one of them.
    /// Returns [#none()] if none are given.
    ///
    /// @throws IllegalArgumentException if they depend on more than 65536 sources and deadlines
    static Cancellation anyOf(Cancellation... several) {
        return LinkedToken.anyOf(several);
    }

    /// Returns a cancellation that is cancelled after the delay, measured by the loop's clock. The
    /// reason names the delay, and its cause is a [java.util.concurrent.TimeoutException].
    ///
    /// Queries detect the deadline at once, even while the loop is busy or not running. The loop
    /// runs the callbacks, in the first tick after the deadline. A terminated loop runs none. A
    /// callback registered after the deadline was detected runs on the registering thread. A
    /// deadline does not keep a loop alive.
    ///
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be
    ///     represented
    static Cancellation after(EventLoop loop, Duration delay) {
        long nanos = Durations.nanos("delay", delay);
        return new DeadlineToken(loop, Durations.deadline("delay", loop.nanoTime(), nanos), nanos);
    }

    /// Returns whether this is cancelled. Never changes from true to false.
    default boolean isCancelled() {
        return reason() != null;
    }

    /// Returns why this is cancelled, always the same instance; `null` if it is not cancelled.
    @Nullable CancelledException reason();

    /// Throws if this is cancelled.
    ///
    /// @throws CancelledException the [#reason()]
    default void throwIfCancelled() {
        CancelledException reason = reason();
        if (reason != null) {
            throw reason;
        }
    }

    /// Runs the callback exactly once when this is cancelled, on the thread that cancels. Runs it
    /// at once on the calling thread if this is cancelled already. Never runs it if the
    /// registration was closed before.
    ///
    /// No lock is held while the callback runs, so it may call any method, also of this
    /// cancellation. The thread that cancels waits for it, so it should be short.
    ///
    /// @return the registration; closing it removes the callback
    Registration onCancel(Runnable callback);

    /// A registered callback.
    interface Registration extends AutoCloseable {
        /// Removes the callback: it does not run unless it has begun. Does not wait for a callback
        /// that another thread is running. Idempotent and callable from any thread, in constant
        /// time.
        @Override
        void close();
    }
}
