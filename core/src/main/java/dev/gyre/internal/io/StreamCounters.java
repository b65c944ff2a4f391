package dev.gyre.internal.io;

import dev.gyre.internal.base.Counter;
import dev.gyre.io.CloseReason;

import java.util.EnumMap;
import java.util.Map;

/// How many streams a loop has, had, and why they went. Written by the loop thread, read by any.
public final class StreamCounters {
    private final Counter opened = new Counter();
    private final Counter closed = new Counter();
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
