package dev.gyre.testkit.internal;

import org.jspecify.annotations.Nullable;

import java.util.PriorityQueue;

/// The simulated clock, and what is to happen when it gets there. Things of one instant happen in the order in
/// which they were put down.
final class Agenda {
    /// Not zero, so that nobody takes a time for a duration.
    static final long START_NANOS = 1_000_000_000L;

    /// More than this waiting at once is a world that runs away.
    private static final int MOST = 1 << 22;

    /// Something that happens.
    ///
    /// @param outside whether it is user code, which runs without the kernel's lock
    record Happening(long atNanos, long order, boolean outside, Runnable action)
            implements Comparable<Happening> {
        @Override
        public int compareTo(Happening other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    // Guarded by the kernel's lock; the clock is also read without.
    private final PriorityQueue<Happening> coming = new PriorityQueue<>();
    private volatile long nowNanos = START_NANOS;
    private long order;

    long nowNanos() {
        return nowNanos;
    }

    /// Moves the clock forward, never back.
    void moveTo(long nanos) {
        nowNanos = Math.max(nowNanos, nanos);
    }

    void after(long delayNanos, Runnable action) {
        add(nowNanos + delayNanos, false, action);
    }

    void at(long atNanos, Runnable action) {
        add(Math.max(nowNanos, atNanos), false, action);
    }

    /// For user code.
    void outsideAfter(long delayNanos, Runnable action) {
        add(nowNanos + delayNanos, true, action);
    }

    private void add(long atNanos, boolean outside, Runnable action) {
        if (coming.size() >= MOST) {
            throw new IllegalStateException(
                    "the simulated world has " + MOST + " things to come: does it feed itself?");
        }
        coming.add(new Happening(atNanos, order++, outside, action));
    }

    /// Takes the next thing whose time has come.
    @Nullable Happening takeDue() {
        Happening first = coming.peek();
        return first != null && first.atNanos <= nowNanos ? coming.poll() : null;
    }

    boolean isEmpty() {
        return coming.isEmpty();
    }

    /// When the next thing happens; only if there is one.
    long nextNanos() {
        Happening first = coming.peek();
        assert first != null : "nothing is to come";
        return first.atNanos;
    }

    void clear() {
        coming.clear();
    }
}
