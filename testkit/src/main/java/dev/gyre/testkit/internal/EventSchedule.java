package dev.gyre.testkit.internal;

import org.jspecify.annotations.Nullable;

import java.util.PriorityQueue;

/// The simulated clock and its scheduled events. Events of the same instant run in the order in
/// which they were scheduled.
final class EventSchedule {
    /// Not zero, so that times and durations are not confused.
    static final long START_NANOS = 1_000_000_000L;

    /// A world with more scheduled events grows without bound.
    private static final int MAX = 1 << 22;

    /// A scheduled event.
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

    /// Schedules user code.
    void outsideAfter(long delayNanos, Runnable action) {
        add(nowNanos + delayNanos, true, action);
    }

    private void add(long atNanos, boolean outside, Runnable action) {
        if (coming.size() >= MAX) {
            throw new IllegalStateException(
                    "the simulated world has "
                            + MAX
                            + " scheduled events: check for callbacks that"
                            + " schedule ever more of them");
        }
        coming.add(new Happening(atNanos, order++, outside, action));
    }

    /// Removes the next event that is due.
    @Nullable Happening takeDue() {
        Happening first = coming.peek();
        return first != null && first.atNanos <= nowNanos ? coming.poll() : null;
    }

    boolean isEmpty() {
        return coming.isEmpty();
    }

    /// Returns the time of the next event. There must be one.
    long nextNanos() {
        Happening first = coming.peek();
        assert first != null : "no scheduled event";
        return first.atNanos;
    }

    void clear() {
        coming.clear();
    }
}
