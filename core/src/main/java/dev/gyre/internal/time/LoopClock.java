package dev.gyre.internal.time;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongSupplier;

/// The loop's cached time. The loop reads it from the backend once per tick. Any thread may read
/// the cached value.
///
/// The time is stored as an offset from an anchor. Offsets start at zero and never decrease, so `<`
/// compares them, although the backend's scale may start anywhere and wrap around.
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

    // Shared: raised by any thread with compare-and-set, read by any thread. Opaque reads are
    // atomic and coherent, without a fence.
    @SuppressWarnings("unused") // through OFFSET
    private long offsetNanos;

    public LoopClock(LongSupplier source) {
        this.source = source;
        this.anchorNanos = source.getAsLong();
    }

    /// Updates the cached time from the source. The cached time never decreases, even if the source
    /// does. The loop thread calls this once per tick; any thread may while the loop does not run.
    public void update() {
        long offset = source.getAsLong() - anchorNanos;
        long cached;
        do {
            cached = (long) OFFSET.getOpaque(this);
        } while (offset > cached && !OFFSET.compareAndSet(this, cached, offset));
    }

    /// Returns the cached time on the source's scale. Any thread.
    public long nanos() {
        return anchorNanos + (long) OFFSET.getOpaque(this);
    }
}
