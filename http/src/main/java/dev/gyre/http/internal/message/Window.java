package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

import java.util.Arrays;

/// The first bytes that are readable in a buffer, in an array: a look at a buffer costs its checks each time, a
/// look at an array next to nothing, and parsers look at most bytes more than once.
///
/// How many bytes matter is known only when they were parsed. So a few are brought, as many as mattered last
/// time; if a parser needs more, twice as many, and it begins anew, which it can, as all it says depends on the
/// bytes alone.
///
/// **Threads.** One at a time.
final class Window {
    private static final int FEWEST = 64;

    /// What is read beyond the end with a word that begins before it.
    private static final int SLACK = Long.BYTES;

    private final int most;

    // Loop thread only.
    private byte[] bytes;
    private int usual;
    private int end;

    /// @param most how many bytes are ever looked at
    Window(int most) {
        this.most = most;
        this.usual = Math.min(FEWEST, most);
        this.bytes = new byte[usual + SLACK];
    }

    /// Brings the first bytes.
    void open(Buffer data) {
        end = 0;
        bring(data, Math.min(data.readable(), usual));
    }

    /// Brings more.
    ///
    /// @return whether there were more, and not too many
    boolean widen(Buffer data) {
        int wider = Math.min(data.readable(), (int) Math.min(most, 2L * end));
        if (wider <= end) {
            return false;
        }
        bring(data, wider);
        return true;
    }

    private void bring(Buffer data, int to) {
        if (to > bytes.length - SLACK) {
            bytes = Arrays.copyOf(bytes, to + SLACK);
        }
        int at = end;
        for (; at <= to - Long.BYTES; at += Long.BYTES) {
            Octets.WORD.set(bytes, at, data.peekLong(at));
        }
        if (at < to && to >= Long.BYTES) {
            // Once more some that are there already, rather than the last ones one by one.
            Octets.WORD.set(bytes, to - Long.BYTES, data.peekLong(to - Long.BYTES));
            at = to;
        }
        for (; at < to; at++) {
            bytes[at] = data.peek(at);
        }
        end = to;
    }

    /// Whether it shows as many bytes as are ever looked at.
    boolean isFull() {
        return end == most;
    }

    /// Says how many bytes mattered.
    void used(int count) {
        usual = Math.min(most, Math.max(FEWEST, count));
    }

    byte[] bytes() {
        return bytes;
    }

    int end() {
        return end;
    }
}
