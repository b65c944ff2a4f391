package dev.gyre.internal.loop;

import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;

/// What becomes of a throwable that escaped from user code.
///
/// Loop thread only.
final class Failures {
    private static final System.Logger LOG = System.getLogger("dev.gyre");

    private final FailurePolicy policy;
    private final Thread.UncaughtExceptionHandler handler;
    private final Counter count = new Counter();
    private boolean holding;
    private @Nullable Throwable held;

    Failures(LoopConfig config) {
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
            suppress(second, thrown);
            LOG.log(Level.ERROR, "the uncaught handler failed too", second);
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
            throw Failures.<RuntimeException>asUnchecked(thrown);
        }
    }

    private void leaveRun(Throwable thrown) {
        if (!holding) {
            rethrow(thrown);
        }
        if (held == null) {
            held = thrown;
        } else {
            suppress(held, thrown);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself, whatever it equals
    private static void suppress(Throwable primary, Throwable other) {
        if (primary != other) {
            primary.addSuppressed(other);
        }
    }

    /// Whatever it is, as it is: wrapping it would hide it from the caller's catch clauses.
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T asUnchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }
}
