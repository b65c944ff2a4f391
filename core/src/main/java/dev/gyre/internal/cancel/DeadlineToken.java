package dev.gyre.internal.cancel;

import dev.gyre.CancelledException;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Checks;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/// A token that is cancelled at a deadline.
///
/// A query reads the clock. Only listeners need a timer, and only the loop thread may use it. So
/// another thread that adds the first listener or removes the last one asks the loop to
/// synchronise the timer. At most one such request is queued at a time.
public final class DeadlineToken extends CancellationToken {
    private final EventLoop loop;
    private final long deadlineNanos;
    private final long delayNanos;

    // Shared: guarded by the lock.
    private boolean syncQueued;

    // Loop thread only. Set while there are listeners.
    private @Nullable Timer timer;

    /// @param deadlineNanos on the scale of the loop's clock
    /// @param delayNanos the delay that led to the deadline, for messages
    public DeadlineToken(EventLoop loop, long deadlineNanos, long delayNanos) {
        this.loop = loop;
        this.deadlineNanos = deadlineNanos;
        this.delayNanos = delayNanos;
    }

    @Override
    public @Nullable CancelledException reason() {
        CancelledException known = super.reason();
        if (known != null || loop.nanoTime() - deadlineNanos < 0) { // survives wrap-around
            return known;
        }
        return expire();
    }

    private CancelledException expire() {
        String message = "the deadline of " + delay() + " passed";
        return setReason(new CancelledException(message, new TimeoutException(message)));
    }

    private String delay() {
        return Checks.format(Duration.ofNanos(delayNanos));
    }

    @Override
    boolean attach() {
        updateTimer(true);
        return true;
    }

    @Override
    void detach() {
        updateTimer(false);
    }

    private void updateTimer(boolean wanted) {
        try {
            if (loop.isLoopThread()) {
                setTimer(wanted);
            } else if (!syncQueued) {
                loop.submitPriority(this::syncTimer);
                syncQueued = true;
            }
        } catch (LoopTerminatedException e) {
            // A terminated loop runs no callbacks. Queries still find the deadline passed.
        }
    }

    private void syncTimer() {
        synchronized (lock()) {
            syncQueued = false;
            updateTimer(hasListeners());
        }
    }

    private void setTimer(boolean wanted) {
        if (timer != null && !wanted) {
            timer.cancel();
            timer = null;
        } else if (timer == null && wanted) {
            timer = loop.at(deadlineNanos, _ -> onDeadline()).unreference();
        }
    }

    private void onDeadline() {
        timer = null;
        expire();
        notifyListeners();
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + ", after " + delay() + "]";
    }
}
