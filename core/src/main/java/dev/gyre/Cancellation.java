package dev.gyre;

import dev.gyre.internal.cancel.DeadlineToken;
import dev.gyre.internal.cancel.LinkedToken;
import dev.gyre.internal.cancel.NeverCancelled;
import dev.gyre.internal.cancel.SourceToken;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Says whether something is still wanted. It is handed to whatever takes long, which looks at it or
/// listens to it; it is cancelled elsewhere, by a [CancellationSource] or a deadline, once and for good.
///
/// ```java
/// var source = new CancellationSource();
/// var either = Cancellation.anyOf(source.cancellation(), Cancellation.after(loop, ofSeconds(2)));
/// loop.every(ofMillis(100), timer -> IO.println("still wanted")).cancelOn(either);
/// source.cancel("the user went away");
/// ```
///
/// Nothing has to be released. A cancellation that was made from others is known to them only while it
/// has listeners of its own, and a deadline is scheduled only while somebody listens.
///
/// **Threads.** All methods may be called from any thread. Looking never waits for another thread that
/// cancels, and never runs a callback.
///
/// **Order.** Callbacks run on the thread that cancels, in the order they were registered here, before
/// its `cancel` returns; those of a deadline on the loop thread. Between two cancellations of which one
/// was made from the other there is no such order.
///
/// **Failure.** A callback that throws keeps no other from running. When all have run, `cancel`
/// throws the first throwable, with the others suppressed; what a deadline's callbacks throw is handled
/// by the loop's [FailurePolicy].
public sealed interface Cancellation
        permits NeverCancelled, SourceToken, DeadlineToken, LinkedToken {

    /// Is never cancelled, and costs nothing.
    static Cancellation none() {
        return NeverCancelled.INSTANCE;
    }

    /// Is cancelled as soon as one of them is, and has its reason. If several were before anyone looked or
    /// listened, it has the reason of one of those. Of none at all it is [#none()].
    ///
    /// @throws IllegalArgumentException if they go back to more than 65536 sources and deadlines
    static Cancellation anyOf(Cancellation... several) {
        return LinkedToken.anyOf(several);
    }

    /// Is cancelled when so much time has passed from now on, by the loop's clock. The reason names the
    /// delay, and its cause is a [java.util.concurrent.TimeoutException].
    ///
    /// That the time is up is seen at once by whoever looks, also while the loop is busy or does not run.
    /// Callbacks are told by the loop, in the tick that finds the time up, and by nobody once the loop is
    /// over. Only a callback that is registered after the time was seen to be up runs on
    /// the thread that registers it. A deadline does not keep a loop alive.
    ///
    /// @throws IllegalArgumentException if the delay is negative or its deadline cannot be represented
    static Cancellation after(EventLoop loop, Duration delay) {
        long nanos = Durations.nanos("delay", delay);
        return new DeadlineToken(loop, Durations.deadline("delay", loop.nanoTime(), nanos), nanos);
    }

    /// Whether it is cancelled. Stays true.
    default boolean isCancelled() {
        return reason() != null;
    }

    /// Why it is cancelled, the same instance every time, or null while it is not.
    @Nullable CancelledException reason();

    /// Does nothing while it is not cancelled.
    ///
    /// @throws CancelledException the [#reason()], once it is
    default void throwIfCancelled() {
        CancelledException reason = reason();
        if (reason != null) {
            throw reason;
        }
    }

    /// Runs the callback when this is cancelled: exactly once, on the thread that cancels, or at once on
    /// this thread if it is cancelled already. Never if the registration was closed before.
    ///
    /// No lock is held while it runs, so it may do anything, also with this cancellation. The thread that
    /// cancels waits for it, so it should be short.
    ///
    /// @return for taking it back, when what it would end has ended by itself
    Registration onCancel(Runnable callback);

    /// A callback that waits for a cancellation.
    interface Registration extends AutoCloseable {
        /// Takes the callback back: it will not run unless it has begun. Does not wait for one that another
        /// thread is running just now. Idempotent and callable from any thread, in constant time.
        @Override
        void close();
    }
}
