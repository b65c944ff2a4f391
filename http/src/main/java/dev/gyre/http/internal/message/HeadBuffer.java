package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

import java.util.Arrays;

/// A copy of a buffer's first readable bytes in an array. Each access to a buffer is checked, and
/// parsers read most bytes several times.
///
/// The number of bytes that a parser needs is known afterwards. So as many as last time are copied.
/// A parser that needs more gets twice as many and starts anew.
///
/// **Threads.** One at a time.
final class HeadBuffer {
    private static final int MIN_BYTES = 64;

    /// Room for a word that starts before the end.
    private static final int SLACK = Long.BYTES;

    private final int max;

    // Loop thread only.
    private byte[] bytes;
    private int expected;
    private int end;

    /// @param max the maximum of bytes that are examined
    HeadBuffer(int max) {
        this.max = max;
        this.expected = Math.min(MIN_BYTES, max);
        this.bytes = new byte[expected + SLACK];
    }

    void open(Buffer data) {
        end = 0;
        copy(data, Math.min(data.readable(), expected));
    }

    /// Copies more bytes.
    ///
    /// @return false if there are none, or the maximum is reached
    boolean widen(Buffer data) {
        int wider = Math.min(data.readable(), (int) Math.min(max, 2L * end));
        if (wider <= end) {
            return false;
        }
        copy(data, wider);
        return true;
    }

    private void copy(Buffer data, int to) {
        if (to > bytes.length - SLACK) {
            bytes = Arrays.copyOf(bytes, to + SLACK);
        }
        int at = end;
        for (; at <= to - Long.BYTES; at += Long.BYTES) {
            ByteScan.WORD.set(bytes, at, data.peekLong(at));
        }
        if (at < to && to >= Long.BYTES) {
            // Overlaps with copied bytes: faster than single bytes.
            ByteScan.WORD.set(bytes, to - Long.BYTES, data.peekLong(to - Long.BYTES));
            at = to;
        }
        for (; at < to; at++) {
            bytes[at] = data.peek(at);
        }
        end = to;
    }

    /// Whether the maximum of bytes was examined.
    boolean isFull() {
        return end == max;
    }

    /// Sets how many bytes were needed.
    void used(int count) {
        expected = Math.min(max, Math.max(MIN_BYTES, count));
    }

    byte[] bytes() {
        return bytes;
    }

    int end() {
        return end;
    }
}
