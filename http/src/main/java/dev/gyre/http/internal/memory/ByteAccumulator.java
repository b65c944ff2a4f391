package dev.gyre.http.internal.memory;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// Collects bytes that arrive in pieces in one array. The array counts toward the loop's
/// [HeapBudget] until [#release()].
///
/// An announcement costs the sender nothing. So an announced length is trusted only after 64 KiB
/// have arrived: then the array gets that length and grows no more. Without a length the array
/// doubles.
///
/// Loop thread only.
public final class ByteAccumulator {
    /// The memory reserved for an announced length that is not trusted yet.
    private static final int UNTRUSTED_BYTES = 64 << 10;

    private static final int MIN_BYTES = 1 << 10;
    private static final byte[] EMPTY = {};

    private final long length;
    private final long limit;

    // Loop thread only.
    private HeapBudget budget;
    private @Nullable ByteArrayPool pool;
    private byte[] array = EMPTY;
    private int size;
    private long acquired;

    /// Creates an accumulator whose result may be handed out.
    public ByteAccumulator(HeapBudget budget, long length, long limit) {
        this(budget, null, length, limit);
    }

    /// @param pool reuses the array after [#release()]; null if the result may be handed out
    /// @param length the announced length; -1 if unknown
    /// @param limit the maximum size
    public ByteAccumulator(
            HeapBudget budget, @Nullable ByteArrayPool pool, long length, long limit) {
        this.budget = budget;
        this.pool = pool;
        this.length = length;
        this.limit = limit;
    }

    /// Returns whether so many more bytes are within the limit.
    public boolean fits(long bytes) {
        return bytes <= limit - size;
    }

    /// Moves bytes, which [#fits], from a buffer to the end.
    ///
    /// @return false if the budget is used up; no byte is moved then
    public boolean append(Buffer data, int bytes) {
        int needed = Math.addExact(size, bytes);
        if (needed > array.length && !grow(needed)) {
            return false;
        }
        data.get(array, size, bytes);
        size = needed;
        return true;
    }

    private boolean grow(int needed) {
        long wanted;
        if (length < 0) {
            wanted = Math.min(limit, Math.max(MIN_BYTES, 2L * array.length));
        } else {
            wanted = needed <= UNTRUSTED_BYTES ? Math.min(UNTRUSTED_BYTES, length) : length;
        }
        int capacity = (int) Math.max(needed, wanted);
        long missing = Math.max(0, capacity - acquired);
        if (!budget.tryAcquire(missing)) {
            return false;
        }
        acquired += missing;
        byte[] old = array;
        array = pool == null ? new byte[capacity] : pool.acquire(capacity);
        System.arraycopy(old, 0, array, 0, size);
        if (pool != null) {
            pool.release(old);
        }
        return true;
    }

    /// Returns the number of bytes collected.
    public int size() {
        return size;
    }

    /// Returns the array, which may be longer than [#size()]. Valid until the next call of
    /// [#append] or [#release()].
    public byte[] array() {
        return array;
    }

    /// Returns an array that contains exactly the bytes collected.
    public byte[] toByteArray() {
        return size == array.length ? array : Arrays.copyOf(array, size);
    }

    /// Moves to another loop, whose budget counts the bytes from now on. The caller releases
    /// [#acquired()] in the budget of the previous loop.
    ///
    /// @return false if the budget is used up; the bytes count in none then
    public boolean moveTo(HeapBudget budget, ByteArrayPool pool) {
        this.budget = budget;
        this.pool = pool;
        boolean fits = budget.tryAcquire(acquired);
        if (!fits) {
            acquired = 0;
        }
        return fits;
    }

    /// Returns the number of bytes that count in the budget.
    public long acquired() {
        return acquired;
    }

    /// Discards the bytes and returns the memory to the budget. Idempotent.
    public void release() {
        byte[] old = array;
        array = EMPTY;
        size = 0;
        budget.release(acquired);
        acquired = 0;
        if (pool != null) {
            pool.release(old);
        }
    }
}
