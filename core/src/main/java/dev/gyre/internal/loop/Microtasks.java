package dev.gyre.internal.loop;

/// The microtasks and their barrier.
///
/// A barrier runs them until none is left, including those added meanwhile, but no more in one tick than
/// the budget: a microtask that adds another for ever slows the loop down and does not stop it. What is
/// left keeps the next poll from blocking, as everything queued does; no flag is needed for that.
///
/// Loop thread only.
final class Microtasks {
    private final TaskRing ring = new TaskRing("microtasks");
    private final Callbacks callbacks;
    private final int budget;
    private int left;

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

    int capacity() {
        return ring.capacity();
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
                callbacks.observeMicrotaskBreach(ring.size());
            }
        }
    }
}
