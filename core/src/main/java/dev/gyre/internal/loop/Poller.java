package dev.gyre.internal.loop;

import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Counter;

/// Check-then-sleep, the loop's side; the producers' side is [Ingress].
///
/// ```
///     loop                                producer
///     state ← SLEEPING                    slot ← task
///     ── full fence ──                    ── full fence ──
///     slot filled?  yes: do not sleep     state SLEEPING?  yes: wake
///                   no:  sleep                             no:  done
/// ```
///
/// Whichever fence comes first in time, the other side's look comes after both stores: it cannot be
/// that the loop finds no task and the producer finds no sleeper. `docs/model/` has the proof.
///
/// Loop thread only.
public final class Poller {
    private final StateCell state;
    private final Ingress ingress;
    private final Backend backend;
    private final StopRequest stop;
    final Counter sleeps = new Counter();
    final Counter polls = new Counter();

    public Poller(StateCell state, Ingress ingress, Backend backend, StopRequest stop) {
        this.state = state;
        this.ingress = ingress;
        this.backend = backend;
        this.stop = stop;
    }

    /// Looks at the kernel without waiting.
    public void pollNow() {
        polls.add(1);
        backend.pollNow();
    }

    /// Waits until the kernel has something, a producer wakes us or the deadline has come; or returns at
    /// once if something has arrived, or if shutdown has begun.
    public void pollUntil(long deadlineNanos) {
        if (!state.move(RUNNING, SLEEPING)) {
            return; // TERMINATING
        }
        // The move was the full fence.
        if (ingress.isEmpty() && !stop.isNews()) {
            sleeps.add(1);
            try {
                backend.pollUntil(deadlineNanos);
            } finally {
                wake();
            }
        } else {
            wake();
        }
    }

    /// Fails only if the state is TERMINATING by now, which must stay.
    private void wake() {
        boolean _ = state.move(SLEEPING, RUNNING);
    }
}
