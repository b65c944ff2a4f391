package dev.gyre.internal.io;

import dev.gyre.internal.base.Counter;
import dev.gyre.io.CloseReason;

import java.util.Arrays;

/// Counts the streams of a loop by outcome. Written by the loop thread, read by any.
@SuppressWarnings("EnumOrdinal") // An index of an array in memory only.
public final class StreamCounters {
    private final Counter opened = new Counter();
    private final Counter closed = new Counter();
    private final Counter refused = new Counter();
    private final Counter shed = new Counter();
    private final Counter exhaustions = new Counter();

    /// Indexed by [CloseReason#ordinal()].
    private final Counter[] reasons = new Counter[CloseReason.values().length];

    StreamCounters() {
        Arrays.setAll(reasons, index -> new Counter());
    }

    public void opened() {
        opened.add(1);
    }

    public void closed(CloseReason why) {
        closed.add(1);
        reasons[why.ordinal()].add(1);
    }

    /// Counts a connection closed at once because of a listener limit.
    public void refused() {
        refused.add(1);
    }

    /// Counts connections closed at once for lack of descriptors.
    public void shed(int connections) {
        shed.add(connections);
    }

    /// Counts an exhaustion of descriptors or of kernel memory for them.
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

    public long open() {
        return opened.get() - closed.get();
    }

    public long allOpened() {
        return opened.get();
    }

    public long closedFor(CloseReason why) {
        return reasons[why.ordinal()].get();
    }
}
