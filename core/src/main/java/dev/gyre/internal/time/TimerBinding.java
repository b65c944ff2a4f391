package dev.gyre.internal.time;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// What ties a timer to a cancellation. It takes the place of the timer's callback, so that timers
/// without one are no larger and no slower: they have a flag in memory they touch anyway.
///
/// It listens only while the timer is scheduled.
final class TimerBinding implements Consumer<Timer>, Runnable {
    private final LoopTimer timer;
    private final Consumer<? super Timer> callback;

    // Loop thread only.
    private Cancellation cancellation;
    private boolean listening;

    // Shared: written by whoever may touch the timer, before it listens; read by the one who
    // cancels.
    private volatile long listenerThread;

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
    void alsoTo(Cancellation another) {
        stopListening();
        cancellation = Cancellation.anyOf(cancellation, another);
    }

    boolean isCancelled() {
        return cancellation.isCancelled();
    }

    /// The timer is scheduled: listens from now on, if it does not yet.
    void listen() {
        if (listening) {
            return;
        }
        listening = true;
        listenerThread = Thread.currentThread().threadId();
        timer.queue.bindings.add(this, cancellation.onCancel(this));
        if (timer.place == LoopTimer.NOWHERE) {
            stopListening(); // It was cancelled meanwhile.
        }
    }

    /// The timer is no longer scheduled.
    void stopListening() {
        if (listening) {
            listening = false;
            timer.queue.bindings.remove(this);
        }
    }

    /// Fires the timer, unless it is cancelled: what another thread has cancelled may still be in the
    /// queue.
    @Override
    public void accept(Timer fired) {
        if (cancellation.isCancelled()) {
            drop();
            return;
        }
        if (timer.place == LoopTimer.NOWHERE) {
            stopListening();
        }
        callback.accept(fired);
    }

    /// Is told of the cancellation, on any thread.
    @Override
    public void run() {
        EventLoop loop = timer.queue.host.loop();
        if (mayTouchTimers(loop)) {
            drop();
            return;
        }
        try {
            loop.submitPriority(this::drop);
        } catch (LoopTerminatedException e) {
            // Then it will not fire anyway.
        }
    }

    /// The loop thread may. While there is none, so may the thread that scheduled the timer, for it is the
    /// one that sets the loop up; any other might come in its way.
    private boolean mayTouchTimers(EventLoop loop) {
        return loop.isLoopThread()
                || (loop.state() == LoopState.AWAKE
                        && listenerThread == Thread.currentThread().threadId());
    }

    private void drop() {
        timer.queue.remove(timer);
        stopListening();
    }
}
