package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.EventLoop;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.TimeoutException;

/// A token that is cancelled when a time has come.
///
/// Whoever looks reads the clock. A timer is needed only to tell listeners, and only the loop thread may
/// touch it. So another thread that adds the first listener, or takes out the last, asks the loop to come
/// and see; one such request is under way at most, however often listeners come and go.
public final class DeadlineToken implements Cancellation, RootToken {
    private static final long[] UNIT_NANOS = {1_000_000_000, 1_000_000, 1_000, 1};
    private static final String[] UNITS = {"s", "ms", "µs", "ns"};

    private final EventLoop loop;
    private final long deadlineNanos;
    private final long delayNanos;
    private final CancellationState fate = new CancellationState(new Schedule());

    /// @param deadlineNanos on the scale of the loop's clock
    /// @param delayNanos how far ahead that was
    public DeadlineToken(EventLoop loop, long deadlineNanos, long delayNanos) {
        this.loop = loop;
        this.deadlineNanos = deadlineNanos;
        this.delayNanos = delayNanos;
    }

    @Override
    public @Nullable CancelledException reason() {
        CancelledException decided = fate.reason();
        if (decided != null || loop.nanoTime() - deadlineNanos < 0) { // survives wrap-around
            return decided;
        }
        return pass();
    }

    private CancelledException pass() {
        String message = "the deadline of " + delay() + " passed";
        return fate.decide(new CancelledException(message, new TimeoutException(message)));
    }

    /// In the largest unit that tells it whole.
    private String delay() {
        int unit = 0;
        while (delayNanos % UNIT_NANOS[unit] != 0) {
            unit++;
        }
        return delayNanos / UNIT_NANOS[unit] + " " + UNITS[unit];
    }

    @Override
    public Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        reason(); // Decides it, if the time has come.
        return fate.listen(callback);
    }

    @Override
    public CancellationState fate() {
        return fate;
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + ", after " + delay() + "]";
    }

    /// Its timer, there while anyone listens.
    private final class Schedule implements ListenerLifecycle {
        // Shared: guarded by the lock of the fate.
        private boolean asked;

        // Loop thread only.
        private @Nullable Timer timer;

        @Override
        public boolean attach() {
            adjust(true);
            return true;
        }

        @Override
        public void detach() {
            adjust(false);
        }

        private void adjust(boolean wanted) {
            try {
                if (loop.isLoopThread()) {
                    set(wanted);
                } else if (!asked) {
                    loop.submitPriority(this::comeAndSee);
                    asked = true;
                }
            } catch (LoopTerminatedException e) {
                // Nothing runs there any more. That the time is up shows to whoever looks.
            }
        }

        private void comeAndSee() {
            synchronized (fate) {
                asked = false;
                adjust(fate.hasListeners());
            }
        }

        private void set(boolean wanted) {
            if (timer != null && !wanted) {
                timer.cancel();
                timer = null;
            } else if (timer == null && wanted) {
                timer = loop.at(deadlineNanos, _ -> onTime()).unreference();
            }
        }

        private void onTime() {
            timer = null;
            pass();
            fate.tell();
        }
    }
}
