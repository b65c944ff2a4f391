package dev.gyre.internal.loop;

import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.promise.UnhandledRejections;

/// The microtasks and their barrier.
///
/// A barrier runs them until none is left, including those added meanwhile. One tick runs no more
/// than the budget: microtasks that keep adding others slow the loop down, but do not stop it. The
/// rest keeps the next poll from blocking, as everything queued does.
///
/// Loop thread only.
final class Microtasks {
    /// A flood is this number of consecutive breaches without a decrease in waiting microtasks.
    static final int FLOOD_TICKS = 16;

    private final TaskRing ring;
    private final Callbacks callbacks;
    private final UnhandledRejections unhandled;
    private final int budget;
    private int budgetLeft;
    private boolean breachReported;

    // Consecutive ticks that used up the budget, and how many microtasks waited after the first.
    private int breaches;
    private int waitingAtFirst;

    Microtasks(TaskRing ring, Callbacks callbacks, UnhandledRejections unhandled, int budget) {
        this.ring = ring;
        this.callbacks = callbacks;
        this.unhandled = unhandled;
        this.budget = budget;
        this.budgetLeft = budget;
    }

    void add(Runnable microtask) {
        ring.add(microtask);
    }

    boolean isEmpty() {
        return ring.isEmpty();
    }

    /// Returns whether a barrier has neither a microtask to run nor a rejection to report.
    boolean isQuiet() {
        return ring.isEmpty() && unhandled.isEmpty();
    }

    int size() {
        return ring.size();
    }

    int capacity() {
        return ring.capacity();
    }

    void clear() {
        ring.clear();
    }

    void beginTick() {
        budgetLeft = budget;
        if (!breachReported) {
            breaches = 0;
        }
        breachReported = false;
    }

    void trim() {
        ring.trim();
    }

    /// Runs microtasks within the budget. Reports unhandled rejections once none is left.
    ///
    /// @return whether any ran
    boolean barrier() {
        if (isQuiet()) {
            return false;
        }
        boolean ran = false;
        do {
            ran |= drain();
            if (ring.isEmpty() && !unhandled.isEmpty()) {
                unhandled.report(callbacks::observeUnhandledRejection);
            }
        } while (!ring.isEmpty() && budgetLeft > 0); // The observer may have added some.
        if (!ring.isEmpty()) {
            unhandled.reportExcess(callbacks::observeUnhandledRejection);
        }
        reportBreach();
        return ran;
    }

    /// Counts in a local variable, and publishes the count once: this loop runs every handler of a
    /// promise.
    private boolean drain() {
        int unused = budgetLeft;
        try {
            while (unused > 0) {
                Runnable microtask = ring.poll();
                if (microtask == null) {
                    break;
                }
                unused--;
                callbacks.guarded(microtask);
            }
            return unused < budgetLeft;
        } finally {
            callbacks.microtasks.add(budgetLeft - unused);
            budgetLeft = unused;
        }
    }

    private void reportBreach() {
        if (budgetLeft == 0 && !breachReported && !ring.isEmpty()) {
            breachReported = true;
            int waiting = ring.size();
            boolean flood = isFlood(waiting);
            callbacks.observeMicrotaskBreach(waiting);
            if (flood) {
                callbacks.observeMicrotaskFlood(waiting);
            }
        }
    }

    /// A burst of any size shrinks from tick to tick. A flood does not.
    private boolean isFlood(int waiting) {
        if (breaches == 0) {
            waitingAtFirst = waiting;
        }
        breaches++;
        if (breaches <= FLOOD_TICKS) {
            return false;
        }
        breaches = 0; // Counting restarts with the next breach.
        return waiting >= waitingAtFirst;
    }
}
