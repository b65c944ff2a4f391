package dev.gyre.internal.io;

import dev.gyre.internal.base.Counter;
import dev.gyre.io.CloseReason;

import java.util.Arrays;

/// Counts the streams of a loop by outcome. Written by the loop thread, read by any.
@SuppressWarnings("EnumOrdinal") // An index of an array in memory only.
public final class StreamCounters {
    public final Counter opened = new Counter();

    /// Streams that moved to this loop from another one, and away from it.
    public final Counter movedIn = new Counter();

    public final Counter movedOut = new Counter();

    /// Connections closed at once because of a listener limit.
    public final Counter refused = new Counter();

    /// Connections closed at once for lack of descriptors.
    public final Counter shed = new Counter();

    /// How often descriptors, or kernel memory for them, ran out.
    public final Counter exhaustions = new Counter();

    private final Counter closed = new Counter();

    /// Indexed by [CloseReason#ordinal()].
    private final Counter[] reasons = new Counter[CloseReason.values().length];

    StreamCounters() {
        Arrays.setAll(reasons, index -> new Counter());
    }

    public void closed(CloseReason why) {
        closed.add(1);
        reasons[why.ordinal()].add(1);
    }

    public long open() {
        return opened.get() + movedIn.get() - movedOut.get() - closed.get();
    }

    public long closedFor(CloseReason why) {
        return reasons[why.ordinal()].get();
    }
}
