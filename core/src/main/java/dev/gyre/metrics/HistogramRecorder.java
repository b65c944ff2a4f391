package dev.gyre.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Records durations of one thread, for [Histogram]s that any thread reads.
///
/// ```java
/// var queries = new HistogramRecorder();          // one per loop
/// queries.record(System.nanoTime() - started);
/// queries.snapshot().percentile(99);              // on any thread
/// ```
///
/// There are 64 buckets per power of two, so that a quantile is off by at most 0.8 %. Values range
/// from 0 to 73 minutes; larger ones count as the largest, and negative ones as zero. A recorder
/// occupies 18 KB.
///
/// **Threads.** [#record] is confined to one thread at a time: it neither locks nor allocates.
/// [#snapshot()] may be called from any thread, at any time.
public final class HistogramRecorder {
    /// Bits of the value that select a bucket within its power of two.
    static final int PRECISION_BITS = 6;

    static final int BUCKETS_PER_OCTAVE = 1 << PRECISION_BITS;

    /// The power of two that is out of range.
    static final int MAX_BITS = 42;

    static final long MAX_VALUE = (1L << MAX_BITS) - 1;

    /// Below 128 a bucket has one value. Each power of two above has 64 buckets.
    static final int BUCKETS = (MAX_BITS - PRECISION_BITS + 1) * BUCKETS_PER_OCTAVE;

    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle SUM;
    private static final VarHandle MAX;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            SUM = lookup.findVarHandle(HistogramRecorder.class, "sum", long.class);
            MAX = lookup.findVarHandle(HistogramRecorder.class, "max", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // Shared: written by the recording thread, read by any. Opaque stores cost as little as plain
    // ones, and are atomic.
    private final long[] counts = new long[BUCKETS];
    private long sum;
    private long max;

    /// Creates an empty recorder.
    public HistogramRecorder() {}

    /// Records a duration in nanoseconds.
    public void record(long nanos) {
        long value = Math.min(Math.max(nanos, 0), MAX_VALUE);
        int bucket = bucketOf(value);
        COUNT.setOpaque(counts, bucket, counts[bucket] + 1);
        SUM.setOpaque(this, sum + value);
        if (value > max) {
            MAX.setOpaque(this, value);
        }
    }

    /// Returns a copy of what was recorded so far. Values recorded meanwhile may be missing in it.
    public Histogram snapshot() {
        long[] copy = new long[BUCKETS];
        for (int i = 0; i < BUCKETS; i++) {
            copy[i] = (long) COUNT.getOpaque(counts, i);
        }
        return new Histogram(copy, (long) SUM.getOpaque(this), (long) MAX.getOpaque(this));
    }

    /// Values below 128 are their own bucket. For larger ones, the bucket is the number of the
    /// power of two, followed by the six bits below the highest.
    static int bucketOf(long value) {
        int shift = Math.max(0, Long.SIZE - 1 - PRECISION_BITS - Long.numberOfLeadingZeros(value));
        return (shift << PRECISION_BITS) + (int) (value >>> shift);
    }

    /// Returns the smallest value of a bucket.
    static long lowerBoundOf(int bucket) {
        int shift = Math.max(0, (bucket >> PRECISION_BITS) - 1);
        return (long) (bucket - (shift << PRECISION_BITS)) << shift;
    }
}
