package dev.gyre.internal.os;

import dev.gyre.EventLoop;
import dev.gyre.os.FileChange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// Changes on their way to their callbacks, in order. Each is a deferred callback of the loop, so
/// that runs may end between any two of them, and what one throws costs no other. Only so many are
/// handed to the loop at a time: a flood of changes holds up a turn for that long and no longer.
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

    /// Whether events had better be left with the kernel for now.
    boolean isHalfFull() {
        return pending.size() >= MAX_PENDING / 2;
    }

    /// Whether a change of the usual kind finds room.
    boolean hasRoom() {
        return pending.size() < MAX_PENDING;
    }

    /// @param isLast whether the watch is over with it
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
        Delivery delivery = pollActive();
        defer(); // Before the callback, which may fail.
        if (delivery != null) {
            delivery.watch.deliver(delivery.change, delivery.isLast);
        }
    }

    private @Nullable Delivery pollActive() {
        Delivery delivery = pending.poll();
        while (delivery != null && !delivery.watch.isActive()) {
            delivery = pending.poll();
        }
        return delivery;
    }
}
