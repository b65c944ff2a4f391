package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.os.FileChange;

import java.util.ArrayDeque;

/// Delivers changes to their callbacks, in order. Each is a deferred callback of the loop: a run
/// may end between any two of them, and an exception of one does not affect the others. The number
/// per tick is limited, so a flood of changes delays a tick only that long.
///
/// Loop thread only.
final class ChangeDispatch {
    static final int MAX_PENDING = 1 << 16;
    static final int MAX_PER_TICK = 256;

    private record Delivery(OpenFileWatch watch, FileChange change, boolean isLast) {}

    private final EventLoop loop;
    private final ArrayDeque<Delivery> pending = new ArrayDeque<>();
    private final Runnable next = this::deliverNext;
    private int deferred;

    ChangeDispatch(EventLoop loop) {
        this.loop = loop;
    }

    /// Returns whether further events should stay in the kernel for now.
    boolean isHalfFull() {
        return pending.size() >= MAX_PENDING / 2;
    }

    boolean hasRoom() {
        return pending.size() < MAX_PENDING;
    }

    /// @param isLast whether the watch ends with this change
    void add(OpenFileWatch watch, FileChange change, boolean isLast) {
        pending.add(new Delivery(watch, change, isLast));
        defer();
    }

    void clear() {
        pending.clear();
    }

    private void defer() {
        while (deferred < Math.min(pending.size(), MAX_PER_TICK)) {
            loop.defer(next);
            deferred++;
        }
    }

    private void deliverNext() {
        deferred--;
        Delivery delivery = pending.poll();
        while (delivery != null && !delivery.watch.open) {
            delivery = pending.poll();
        }
        defer(); // Before the callback, which may fail.
        if (delivery != null) {
            delivery.watch.deliver(delivery.change, delivery.isLast);
        }
    }
}
