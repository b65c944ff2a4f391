package dev.gyre.http.internal.client;

import dev.gyre.io.Buffer;

import java.util.Arrays;

/// The content of an answer as it is put together. Memory is taken for what has arrived, whatever length was
/// announced.
///
/// Loop thread only.
final class Content {
    private static final byte[] NONE = {};
    private static final int FIRST_BYTES = 1 << 10;

    private byte[] bytes = NONE;
    private int size;

    int size() {
        return size;
    }

    /// @param most how much it can become at all, with these bytes
    void take(Buffer data, int count, long most) {
        int needed = Math.addExact(size, count);
        if (needed > bytes.length) {
            long wished = Math.max(FIRST_BYTES, 2L * bytes.length);
            bytes = Arrays.copyOf(bytes, (int) Math.max(needed, Math.min(wished, most)));
        }
        data.get(bytes, size, count);
        size = needed;
    }

    /// All of it; begins anew.
    byte[] taken() {
        byte[] all = size == bytes.length ? bytes : Arrays.copyOf(bytes, size);
        clear();
        return all;
    }

    void clear() {
        bytes = NONE;
        size = 0;
    }
}
