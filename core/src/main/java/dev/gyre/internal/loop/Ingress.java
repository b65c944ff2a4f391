package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SubmitResult;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.StackReserve;

import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/// The producers' side of the two lanes and of the sleep protocol: enqueue, fence, check the state,
/// and wake only a loop that sleeps. The loop's side is [Poller].
public final class Ingress {
    private final StateCell state;
    private final Backend backend;
    final ExternalLane external;
    final PriorityLane priority = new PriorityLane();

    /// Tasks rejected for load.
    final LongAdder rejected = new LongAdder();

    public Ingress(StateCell state, Backend backend, int highWaterMark) {
        this.state = state;
        this.backend = backend;
        this.external = new ExternalLane(highWaterMark, backend::nanoTime);
    }

    /// Any thread.
    public SubmitResult submit(Runnable task) {
        // A stack overflow after the enqueue would skip the wake-up.
        StackReserve.requireSmall();
        // The lane is closed just after the state says TERMINATING. In between, the state decides.
        if (state.isShuttingDown()) {
            return SubmitResult.TERMINATED;
        }
        return switch (external.offer(task)) {
            case ACCEPTED -> {
                wakeIfAsleep();
                yield SubmitResult.ACCEPTED;
            }
            case FULL -> {
                rejected.increment();
                yield SubmitResult.OVERLOADED;
            }
            case CLOSED -> SubmitResult.TERMINATED;
        };
    }

    /// Any thread.
    ///
    /// @return false if the loop is TERMINATED
    public boolean submitPriority(Runnable task) {
        StackReserve.requireSmall();
        if (!priority.offer(task)) {
            return false;
        }
        wakeIfAsleep();
        return true;
    }

    /// Creates the exception for a task that was not accepted. Names the task without its toString,
    /// which may throw or be long.
    static RuntimeException rejection(EventLoop loop, Runnable task, SubmitResult result) {
        String name = "loop " + loop.config().name();
        String of = Objects.toIdentityString(task);
        return result == SubmitResult.OVERLOADED
                ? new LoopOverloadedException(
                        "%s rejects %s: %d tasks are queued, the maximum (highWaterMark)"
                                .formatted(name, of, loop.config().highWaterMark()))
                : new LoopTerminatedException(name + " refuses " + of + ": it is " + loop.state());
    }

    /// Wakes the loop if it sleeps. Any thread, after publishing something that the loop checks
    /// before it sleeps. Both lanes' offers end with a full fence, and so does a volatile store: it
    /// pairs with the one in [Poller].
    void wakeIfAsleep() {
        if (state.isAsleep()) {
            backend.wake();
        }
    }

    /// Returns whether no task is ready to run. Loop thread only.
    boolean isEmpty() {
        return priority.isEmpty() && external.isEmpty();
    }
}
