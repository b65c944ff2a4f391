package dev.gyre.http.internal.memory;

import dev.gyre.EventLoop;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Reuses long arrays. Arrays of a megabyte are allocated in the old generation. Without reuse they
/// fill the heap before the garbage collector runs there.
///
/// The pool keeps a few arrays of bounded length, and drops them after some time without use.
///
/// Loop thread only.
public final class ByteArrayPool {
    /// The step of array lengths. Arrays up to this length are cheap and not pooled.
    public static final int STEP_BYTES = 64 << 10;

    /// The maximum length of a pooled array: a message of 1 MiB with the overhead of compression.
    public static final int MAX_POOLED_BYTES = (1 << 20) + (256 << 10);

    private static final int MAX_ARRAYS = 4;
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(10);
    private static final Comparator<byte[]> BY_LENGTH =
            Comparator.comparingInt(each -> each.length);

    /// Weak, because the pool may be the value of a map whose weak key is the loop.
    private final WeakReference<EventLoop> owner;

    private final Runnable onIdle;

    // Loop thread only.
    private final List<byte[]> spare = new ArrayList<>(MAX_ARRAYS + 1);
    private boolean used;
    private boolean timerRuns;

    /// Creates an empty pool.
    ///
    /// @param onIdle called when the pool drops its arrays after some time without use
    public ByteArrayPool(EventLoop loop, Runnable onIdle) {
        owner = new WeakReference<>(loop);
        this.onIdle = onIdle;
    }

    /// Returns the shortest pooled array of at least this length, or a new one. Its content is
    /// undefined.
    public byte[] acquire(int minBytes) {
        if (minBytes <= STEP_BYTES) {
            return new byte[minBytes];
        }
        markUsed();
        byte[] best =
                spare.stream().filter(each -> each.length >= minBytes).min(BY_LENGTH).orElse(null);
        if (best == null) {
            return new byte[roundUp(minBytes)];
        }
        spare.remove(best);
        return best;
    }

    /// Rounds a length up to a multiple of [#STEP_BYTES].
    public static int roundUp(int bytes) {
        return bytes > Integer.MAX_VALUE - STEP_BYTES
                ? bytes
                : bytes + STEP_BYTES - 1 & -STEP_BYTES;
    }

    /// Returns an array to the pool. Ignores arrays that are too short or too long to be pooled, so
    /// the caller need not know where an array is from.
    public void release(byte[] array) {
        if (array.length > STEP_BYTES && array.length <= MAX_POOLED_BYTES) {
            spare.add(array);
            if (spare.size() > MAX_ARRAYS) {
                spare.remove(spare.stream().min(BY_LENGTH).orElseThrow());
            }
        }
    }

    /// Restarts the time without use.
    public void markUsed() {
        used = true;
        EventLoop loop = owner.get();
        if (!timerRuns && loop != null) {
            timerRuns = true;
            loop.after(
                            IDLE_TIMEOUT,
                            timer -> {
                                if (used) {
                                    used = false;
                                    timer.reschedule(IDLE_TIMEOUT);
                                } else {
                                    timerRuns = false;
                                    spare.clear();
                                    onIdle.run();
                                }
                            })
                    .unreference();
        }
    }

    /// Returns the number of bytes in pooled arrays.
    public int pooledBytes() {
        return spare.stream().mapToInt(each -> each.length).sum();
    }
}
