package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Counter;

/// Check-then-sleep, the loop's side; the producers' side is [Ingress].
///
/// ```
///     loop                                producer
///     state ← asleep                      slot ← task
///     ── full fence ──                    ── full fence ──
///     slot filled?  yes: do not sleep     state asleep?  yes: wake
///                   no:  sleep                           no:  done
/// ```
///
/// Whichever fence is first in time, the other side's check follows both stores. The loop cannot
/// find no task while the producer finds no sleeper. `docs/model/` has the proof. A draining loop
/// sleeps by the same protocol.
///
/// Loop thread only.
public final class Poller {
    private final StateCell state;
    private final Ingress ingress;
    private final Backend backend;
    private final RunLimits limits;
    final Counter sleeps = new Counter();
    final Counter polls = new Counter();

    public Poller(StateCell state, Ingress ingress, Backend backend, RunLimits limits) {
        this.state = state;
        this.ingress = ingress;
        this.backend = backend;
        this.limits = limits;
    }

    public void pollNow() {
        polls.add(1);
        backend.pollNow();
    }

    /// Waits for events until the deadline or a wake-up. Returns at once if a task is queued, if
    /// the run is interrupted, or if a shutdown has begun that is not drained for yet.
    public void pollUntil(long deadlineNanos, boolean draining) {
        if (!state.fallAsleep(draining)) {
            return; // TERMINATING
        }
        try {
            // fallAsleep() was the full fence.
            if (ingress.isEmpty() && !limits.isInterrupted()) {
                sleeps.add(1);
                backend.pollUntil(deadlineNanos);
            }
        } finally {
            state.awake(draining);
        }
    }
}
