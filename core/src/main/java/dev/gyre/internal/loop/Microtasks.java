package dev.gyre.internal.loop;

import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.promise.UnhandledRejections;

/// The microtasks and their barrier.
///
/// A barrier runs them until none is left, including those added meanwhile, but no more in one tick than
/// the budget: a microtask that adds another for ever slows the loop down and does not stop it. What is
/// left keeps the next poll from blocking, as everything queued does; no flag is needed for that.
///
/// Loop thread only.
final class Microtasks {
    /// A flood is this number of consecutive breaches without a decrease in waiting microtasks.
    static final int FLOOD_TICKS = 16;

    private final TaskRing ring;
    private final Callbacks callbacks;
    private final UnhandledRejections unhandled;
    private final int budget;
    private int left;
    private boolean breachReported;

    /// Consecutive ticks that used up the budget, and how many microtasks were left in the first.
    private int breaches;

    private int leftAtFirst;

    Microtasks(TaskRing ring, Callbacks callbacks, UnhandledRejections unhandled, int budget) {
        this.ring = ring;
        this.callbacks = callbacks;
        this.unhandled = unhandled;
        this.budget = budget;
        this.left = budget;
    }

    void add(Runnable microtask) {
        ring.add(microtask);
    }

    boolean isEmpty() {
        return ring.isEmpty();
    }

    /// Whether a barrier would find nothing to do, not even to report.
    boolean isQuiet() {
        return ring.isEmpty() && unhandled.isEmpty();
    }

    int size() {
        return ring.size();
    }

    int capacity() {
        return ring.capacity();
    }

    int clear() {
        return ring.clear();
    }

    /// Grants the budget anew: once a tick.
    void beginTick() {
        left = budget;
        if (!breachReported) {
            breaches = 0;
        }
        breachReported = false;
    }

    /// Shrinks the queue after a burst.
    void trim() {
        ring.trim();
    }

    /// Runs what the budget allows. Once none is left, rejections that nobody has handled are reported.
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
        } while (!ring.isEmpty() && left > 0); // The observer may have added some.
        if (!ring.isEmpty()) {
            unhandled.reportExcess(callbacks::observeUnhandledRejection);
        }
        reportBreach();
        return ran;
    }

    /// Counts in a local, and only in the end where others see it: this is run for every handler of a promise.
    private boolean drain() {
        int unused = left;
        try {
            while (unused > 0) {
                Runnable microtask = ring.poll();
                if (microtask == null) {
                    break;
                }
                unused--;
                callbacks.guarded(microtask);
            }
            return unused < left;
        } finally {
            callbacks.microtasks.add(left - unused);
            left = unused;
        }
    }

    private void reportBreach() {
        if (left == 0 && !breachReported && !ring.isEmpty()) {
            breachReported = true;
            int waiting = ring.size();
            boolean flood = isFlood(waiting);
            callbacks.observeMicrotaskBreach(waiting);
            if (flood) {
                callbacks.observeMicrotaskFlood(waiting);
            }
        }
    }

    /// A burst of any size shrinks from tick to tick. Microtasks that keep adding others do not.
    private boolean isFlood(int waiting) {
        if (breaches == 0) {
            leftAtFirst = waiting;
        }
        breaches++;
        if (breaches <= FLOOD_TICKS) {
            return false;
        }
        breaches = 0; // Counting restarts with the next breach.
        return waiting >= leftAtFirst;
    }
}
