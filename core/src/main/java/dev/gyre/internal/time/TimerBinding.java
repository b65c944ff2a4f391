package dev.gyre.internal.time;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// What ties a timer to a cancellation. It takes the place of the timer's callback, so that timers
/// without one are no larger and no slower: they have a flag in memory they touch anyway.
///
/// It listens only while the timer is in the queue. What it hears serves to take the timer out; whether the
/// timer counts as scheduled and may fire is asked of the cancellation itself, so that it does
/// not matter how soon the loop gets to that.
final class TimerBinding implements Consumer<Timer>, Runnable {
    private final LoopTimer timer;
    private final Consumer<? super Timer> callback;

    // Loop thread only.
    private Cancellation cancellation;
    private boolean listening;

    // Shared: guarded by the lock of the bindings.
    @Nullable TimerBinding previous;
    @Nullable TimerBinding next;
    @Nullable Registration registration;

    TimerBinding(LoopTimer timer, Consumer<? super Timer> callback, Cancellation cancellation) {
        this.timer = timer;
        this.callback = callback;
        this.cancellation = cancellation;
    }

    /// Ties the timer to another cancellation as well.
    void addCancellation(Cancellation another) {
        stopListening();
        cancellation = Cancellation.anyOf(cancellation, another);
    }

    boolean isCancelled() {
        return cancellation.isCancelled();
    }

    /// The timer is in the queue: listens from now on, if it does not yet.
    void listen() {
        if (listening) {
            return;
        }
        listening = true;
        Registration registered = cancellation.onCancel(this);
        // Or it was told in there, as cancelled already: then nobody would take it out again.
        if (listening) {
            timer.queue.bindings.add(this, registered);
        }
    }

    /// The timer is no longer in the queue.
    void stopListening() {
        if (listening) {
            listening = false;
            timer.queue.bindings.remove(this);
        }
    }

    /// Fires the timer, unless it is cancelled.
    @Override
    public void accept(Timer fired) {
        if (cancellation.isCancelled()) {
            removeTimer();
            return;
        }
        if (timer.place == LoopTimer.UNSCHEDULED) {
            stopListening();
        }
        callback.accept(fired);
    }

    /// Is told of the cancellation, on any thread. Only the loop thread may be sure that the queue is its
    /// own: where there is none at this moment, there may be one at the next.
    @Override
    public void run() {
        EventLoop loop = timer.queue.host.loop();
        if (loop.isLoopThread()) {
            removeTimer();
            return;
        }
        try {
            loop.submitPriority(this::removeTimer);
        } catch (LoopTerminatedException e) {
            // Then it will not fire anyway.
        }
    }

    private void removeTimer() {
        timer.queue.remove(timer);
        stopListening();
    }
}
