package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// A message that arrives in pieces: in several frames, or in one that is not all there yet. Exists as long as the
/// message is not whole; a compressed one stays compressed for that time.
///
/// Its memory grows with what has arrived, not with what a header promises: ten bytes that announce a megabyte cost
/// ten bytes. It is taken of the loop's share for all such messages: many peers that each stay below the limit would
/// use up the heap otherwise.
final class MessageAssembly {
    private static final int LEAST_BYTES = 1 << 10;
    private static final byte[] NOTHING = {};

    private final Workbench bench;
    private final boolean text;
    private final boolean packed;
    private final int mostBytes;
    private final Utf8Check check = new Utf8Check();

    // Loop thread only.
    private byte[] bytes = NOTHING;
    private int size;

    /// @param mostBytes how long it may become on the wire
    MessageAssembly(Workbench bench, boolean text, boolean packed, int mostBytes) {
        this.bench = bench;
        this.text = text;
        this.packed = packed;
        this.mostBytes = mostBytes;
    }

    /// Whether another frame of that length still fits.
    boolean fits(long length) {
        return length <= mostBytes - size;
    }

    /// Takes bytes of a frame's content that fits.
    ///
    /// @param count at most [Workbench#SCRATCH_BYTES]
    /// @param phase how many of the frame came before
    /// @return what is wrong with them; null for nothing
    @Nullable Violation take(Buffer data, int count, int key, long phase) {
        if (!reserve(count)) {
            return Violation.NO_MEMORY;
        }
        data.get(bytes, size, count);
        Masking.apply(bytes, size, count, key, phase);
        int before = size;
        size += count;
        boolean fine = !text || packed || check.accept(bytes, before, count);
        return fine ? null : Violation.NOT_UTF8;
    }

    private boolean reserve(int count) {
        int needed = size + count;
        if (needed <= bytes.length) {
            return true;
        }
        long doubled = Math.min(2L * bytes.length, mostBytes);
        byte[] longer = array((int) Math.max(needed, doubled));
        if (!bench.share.take(longer.length - bytes.length)) {
            bench.arrays.give(longer);
            return false;
        }
        System.arraycopy(bytes, 0, longer, 0, size);
        bench.arrays.give(bytes);
        bytes = longer;
        return true;
    }

    private byte[] array(int length) {
        return length <= ArrayStock.STEP_BYTES
                ? new byte[Math.max(length, Math.min(LEAST_BYTES, mostBytes))]
                : bench.takeArray(length);
    }

    /// Whether the message, of which the last frame is there, ends where text may end.
    boolean isWhole() {
        return !text || packed || check.isWhole();
    }

    /// Gives its memory back. Twice is safe.
    void release() {
        byte[] known = bytes;
        bytes = NOTHING;
        bench.share.give(known.length);
        bench.arrays.give(known);
    }

    boolean isText() {
        return text;
    }

    boolean isPacked() {
        return packed;
    }

    /// What has arrived, in the first [#size()] bytes.
    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }
}
