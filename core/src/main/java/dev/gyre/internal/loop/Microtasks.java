package dev.gyre.internal.loop;

/// The microtasks and their barrier.
///
/// A barrier runs them until none is left, including those added meanwhile, but no more in one tick than
/// the budget: a microtask that adds another for ever slows the loop down and does not stop it.
///
/// Loop thread only.
final class Microtasks {
    private final TaskRing ring = new TaskRing("microtasks");
    private final Callbacks callbacks;
    private final int budget;
    private int left;
    private boolean breached;

    Microtasks(Callbacks callbacks, int budget) {
        this.callbacks = callbacks;
        this.budget = budget;
        this.left = budget;
    }

    void add(Runnable microtask) {
        ring.add(microtask);
    }

    boolean isEmpty() {
        return ring.isEmpty();
    }

    int clear() {
        return ring.clear();
    }

    /// Grants the budget anew: once a tick.
    void beginTick() {
        left = budget;
        ring.trim();
    }

    void barrier() {
        while (!ring.isEmpty() && left > 0) {
            left--;
            callbacks.runMicrotask(ring.take());
            if (left == 0 && !ring.isEmpty()) {
                breached = true;
                callbacks.observeMicrotaskBreach(ring.size());
            }
        }
    }

    /// Whether the budget was breached since this was last asked: the next poll must not block then, and
    /// only that one.
    boolean takeBreach() {
        boolean was = breached;
        breached = false;
        return was;
    }
}
