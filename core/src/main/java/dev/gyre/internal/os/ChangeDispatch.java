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
    static final int MOST = 1 << 16;
    static final int PER_TURN = 256;

    private record Delivery(OpenFileWatch watch, FileChange change, boolean isLast) {}

    private final EventLoop loop;
    private final ArrayDeque<Delivery> waiting = new ArrayDeque<>();
    private final Runnable next = this::deliverNext;
    private int deferred;

    ChangeDispatch(EventLoop loop) {
        this.loop = loop;
    }

    /// Whether events had better be left with the kernel for now.
    boolean isAmple() {
        return waiting.size() >= MOST / 2;
    }

    /// Whether a change of the usual kind finds room.
    boolean hasRoom() {
        return waiting.size() < MOST;
    }

    /// @param isLast whether the watch is over with it
    void add(OpenFileWatch watch, FileChange change, boolean isLast) {
        waiting.add(new Delivery(watch, change, isLast));
        defer();
    }

    void clear() {
        waiting.clear();
    }

    private void defer() {
        while (deferred < Math.min(waiting.size(), PER_TURN)) {
            loop.defer(next);
            deferred++;
        }
    }

    private void deliverNext() {
        deferred--;
        Delivery delivery = takeWanted();
        defer(); // Before the callback, which may fail.
        if (delivery != null) {
            delivery.watch.deliver(delivery.change, delivery.isLast);
        }
    }

    private @Nullable Delivery takeWanted() {
        Delivery delivery = waiting.poll();
        while (delivery != null && !delivery.watch.isListening()) {
            delivery = waiting.poll();
        }
        return delivery;
    }
}
