package dev.gyre.internal.loop;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;

/// What becomes of a throwable that escaped from user code.
///
/// Loop thread only.
final class FailureHandler {
    private final FailurePolicy policy;
    private final Thread.UncaughtExceptionHandler handler;
    private final Counter count = new Counter();
    private boolean holding;
    private @Nullable Throwable held;

    FailureHandler(LoopConfig config) {
        this.policy = config.failurePolicy();
        this.handler = config.uncaughtHandler();
    }

    long count() {
        return count.get();
    }

    /// Deals with what a callback threw. Returns if the tick should go on, and throws otherwise.
    void caught(Throwable thrown) {
        count.add(1);
        if (thrown instanceof VirtualMachineError || policy == FailurePolicy.PROPAGATE) {
            leaveRun(thrown);
            return;
        }
        try {
            handler.uncaughtException(Thread.currentThread(), thrown);
        } catch (VirtualMachineError e) {
            leaveRun(e);
        } catch (Throwable second) {
            LOG.log(
                    Level.ERROR,
                    "the uncaught handler failed too",
                    Throwables.firstOf(second, thrown));
        }
    }

    /// From now on keeps what would leave `run`: nothing may cut the release of descriptors short.
    void holdUntilReleased() {
        holding = true;
    }

    /// Keeps what a run was already leaving with.
    void hold(@Nullable Throwable thrown) {
        held = thrown;
    }

    /// Throws what was kept.
    void releaseHeld() {
        holding = false;
        Throwable thrown = held;
        held = null;
        rethrow(thrown);
    }

    void rethrow(@Nullable Throwable thrown) {
        if (thrown != null) {
            throw Throwables.rethrow(thrown);
        }
    }

    private void leaveRun(Throwable thrown) {
        if (!holding) {
            rethrow(thrown);
        }
        held = Throwables.firstOf(held, thrown);
    }
}
