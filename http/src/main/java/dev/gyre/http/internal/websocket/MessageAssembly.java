package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// A message that arrives in pieces: in several frames, in one that is not all there yet, or compressed. Exists as
/// long as the message is not whole.
///
/// Its memory grows with what has arrived, not with what a header promises: ten bytes that announce a megabyte cost
/// ten bytes.
final class MessageAssembly {
    private static final int LEAST_BYTES = 1 << 10;

    private final Workbench bench;
    private final boolean text;
    private final int mostBytes;
    private final @Nullable Inflation inflation;
    private final Utf8Check check = new Utf8Check();

    // Loop thread only.
    private byte[] bytes;
    private int size;

    /// @param firstLength what the first frame promises: a message of one frame needs no more memory than that
    MessageAssembly(
            Workbench bench, boolean text, boolean packed, int mostBytes, long firstLength) {
        this.bench = bench;
        this.text = text;
        this.mostBytes = mostBytes;
        inflation = packed ? new Inflation(bench) : null;
        bytes = new byte[(int) Math.min(firstLength, LEAST_BYTES)];
    }

    /// Whether another frame of that length still fits; what is compressed is seen when it is inflated.
    boolean fits(long length) {
        return inflation != null || length <= mostBytes - size;
    }

    /// Takes bytes of a frame's content.
    ///
    /// @param count at most [Workbench#SCRATCH_BYTES]
    /// @param phase how many of the frame came before
    /// @return what is wrong with them; null for nothing
    @Nullable Violation take(Buffer data, int count, int key, long phase) {
        if (inflation != null) {
            data.get(bench.scratch, 0, count);
            Masking.apply(bench.scratch, 0, count, key, phase);
            return inflation.accept(bench.scratch, count, this::append);
        }
        reserve(count);
        data.get(bytes, size, count);
        Masking.apply(bytes, size, count, key, phase);
        return added(count);
    }

    private @Nullable Violation append(byte[] from, int count) {
        if (count > mostBytes - size) {
            return Violation.TOO_LONG;
        }
        reserve(count);
        System.arraycopy(from, 0, bytes, size, count);
        return added(count);
    }

    private @Nullable Violation added(int count) {
        int before = size;
        size += count;
        return text && !check.accept(bytes, before, count) ? Violation.NOT_UTF8 : null;
    }

    private void reserve(int count) {
        int needed = size + count;
        if (needed > bytes.length) {
            long doubled = Math.min(2L * bytes.length, mostBytes);
            bytes = Arrays.copyOf(bytes, (int) Math.max(needed, doubled));
        }
    }

    /// The last frame is there.
    ///
    /// @return what is wrong with the message; null for nothing
    @Nullable Violation end() {
        Violation wrong = inflation == null ? null : inflation.end(this::append);
        if (wrong == null && text && !check.isWhole()) {
            wrong = Violation.NOT_UTF8;
        }
        return wrong;
    }

    /// Gives back what it worked with; what it has put together stays.
    void release() {
        if (inflation != null) {
            inflation.release();
        }
    }

    boolean isText() {
        return text;
    }

    /// What has arrived, in the first [#size()] bytes.
    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }
}
