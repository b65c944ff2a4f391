package dev.gyre.internal.io;

import dev.gyre.internal.base.Counter;
import dev.gyre.io.CloseReason;

import java.util.EnumMap;
import java.util.Map;

/// How many streams a loop has, had, and why they went. Written by the loop thread, read by any.
public final class StreamCounters {
    private final Counter opened = new Counter();
    private final Counter closed = new Counter();
    private final Counter refused = new Counter();
    private final Counter shed = new Counter();
    private final Counter exhaustions = new Counter();
    private final Map<CloseReason, Counter> reasons = new EnumMap<>(CloseReason.class);

    StreamCounters() {
        for (CloseReason reason : CloseReason.values()) {
            reasons.put(reason, new Counter());
        }
    }

    public void opened() {
        opened.add(1);
    }

    public void closed(CloseReason why) {
        closed.add(1);
        of(why).add(1);
    }

    /// A connection was closed at once for a limit of its listener.
    public void refused() {
        refused.add(1);
    }

    /// Connections were closed at once for want of descriptors.
    public void shed(int connections) {
        shed.add(connections);
    }

    /// Descriptors, or the kernel's memory for them, have run out.
    public void exhausted() {
        exhaustions.add(1);
    }

    public long allRefused() {
        return refused.get();
    }

    public long allShed() {
        return shed.get();
    }

    public long exhaustions() {
        return exhaustions.get();
    }

    /// How many are open now.
    public long open() {
        return opened.get() - closed.get();
    }

    public long allOpened() {
        return opened.get();
    }

    public long closedFor(CloseReason why) {
        return of(why).get();
    }

    private Counter of(CloseReason why) {
        Counter known = reasons.get(why);
        assert known != null : why;
        return known;
    }
}
