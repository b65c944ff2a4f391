package dev.gyre.internal.loop;

import dev.gyre.LoopState;
import dev.gyre.SubmitResult;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.StackReserve;

/// The producers' side of the two lanes, and of the sleep protocol: enqueue, fence, look at the state,
/// and wake only a sleeping loop. The loop's side is [Poller].
public final class Ingress {
    private final StateCell state;
    private final Backend backend;
    final ExternalLane external;
    final PriorityLane priority = new PriorityLane();

    public Ingress(StateCell state, Backend backend, int highWaterMark) {
        this.state = state;
        this.backend = backend;
        this.external = new ExternalLane(highWaterMark);
    }

    /// Any thread.
    public SubmitResult submit(Runnable task) {
        // Otherwise the task could be enqueued without a wake-up.
        StackReserve.requireSmall();
        // The lane is closed just after the state says TERMINATING. In between, the state decides.
        if (state.isShuttingDown()) {
            return SubmitResult.TERMINATED;
        }
        return switch (external.offer(task)) {
            case TAKEN -> {
                wakeIfSleeping();
                yield SubmitResult.ACCEPTED;
            }
            case FULL -> SubmitResult.OVERLOADED;
            case CLOSED -> SubmitResult.TERMINATED;
        };
    }

    /// Any thread.
    ///
    /// @return false if the loop is over
    public boolean submitPriority(Runnable task) {
        StackReserve.requireSmall();
        if (!priority.offer(task)) {
            return false;
        }
        wakeIfSleeping();
        return true;
    }

    /// Any thread, after making something visible that the loop looks at before it sleeps. Both lanes'
    /// offers end with a full fence, and so does a volatile store: it pairs with the one in [Poller].
    void wakeIfSleeping() {
        if (state.is(LoopState.SLEEPING)) {
            backend.wake();
        }
    }

    /// Loop thread: whether anything waits to be run.
    boolean isEmpty() {
        return priority.isEmpty() && external.isEmpty();
    }
}
