package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.memory.HeapShare;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// Content that is collected in an array, of the loop's share of the heap.
///
/// Who says that much will come has it believed when the first of it is there, and not before: an announcement costs a peer
/// nothing. From then on the array is as long as was said, and never grows again; without a length it doubles.
///
/// Loop thread only.
final class Collected {
    /// What there is room for before a peer has shown that it means it.
    private static final int FIRST_BYTES = 64 << 10;

    private static final int LEAST_BYTES = 1 << 10;

    private final HeapShare heap;
    private final long length;
    private final long limit;
    private byte[] bytes = {};
    private int count;
    private long taken;

    /// @param length how much will come; -1 if that is not known
    /// @param limit how much may come
    Collected(HeapShare heap, long length, long limit) {
        this.heap = heap;
        this.length = length;
        this.limit = limit;
    }

    /// Takes all that is readable.
    ///
    /// @return why it cannot; null if it did
    @Nullable HttpException add(Buffer data) {
        int more = data.readable();
        long all = (long) count + more;
        if (all > limit) {
            return RequestBody.tooLong(limit);
        }
        if (all > bytes.length && !grow((int) all)) {
            return new HttpException(503, "there is no memory for the content just now");
        }
        data.get(bytes, count, more);
        count += more;
        return null;
    }

    private boolean grow(int least) {
        long room;
        if (length < 0) {
            room = Math.min(limit, Math.max(least, Math.max(LEAST_BYTES, 2L * bytes.length)));
        } else {
            room = least <= FIRST_BYTES ? Math.min(FIRST_BYTES, length) : length;
        }
        if (!heap.take(room - bytes.length)) {
            return false;
        }
        taken += room - bytes.length;
        bytes = Arrays.copyOf(bytes, (int) room);
        return true;
    }

    /// What was collected. It counts until it is given back.
    byte[] bytes() {
        return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
    }

    /// Nobody needs it any more.
    void giveBack() {
        bytes = new byte[0];
        count = 0;
        heap.give(taken);
        taken = 0;
    }
}
