package dev.gyre.internal.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/// The loop's cached time: read from the backend once a tick, kept as one long that any thread may read
/// whole.
///
/// The time is an offset from an anchor. Offsets start at zero and only grow, so they can be compared
/// with `<` although the backend's own scale may begin anywhere and wrap.
public final class LoopClock {
    private static final VarHandle OFFSET;

    static {
        try {
            OFFSET =
                    MethodHandles.lookup()
                            .findVarHandle(LoopClock.class, "offsetNanos", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final LongSupplier source;
    private final long anchorNanos;

    // Shared: only ever raised, by compare-and-set, and read by any thread. Opaque reads: whole and
    // in order, no fence.
    @SuppressWarnings("unused") // through OFFSET
    private long offsetNanos;

    public LoopClock(LongSupplier source) {
        this.source = source;
        this.anchorNanos = source.getAsLong();
    }

    /// Reads the source and keeps what it says. Time never goes back, even if the source does, or another
    /// thread was quicker. The loop thread once a tick; any thread while the loop does not run.
    public void update() {
        long offset = source.getAsLong() - anchorNanos;
        long kept;
        do {
            kept = (long) OFFSET.getOpaque(this);
        } while (offset > kept && !OFFSET.compareAndSet(this, kept, offset));
    }

    /// The kept time, on the source's scale. Any thread.
    public long nanos() {
        return anchorNanos + (long) OFFSET.getOpaque(this);
    }
}
