package dev.gyre.http.internal.coding;

import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/// Makes gzip of content, whole or bit by bit. Holds native memory, a quarter of a MiB, until [#close()].
///
/// **Threads.** One at a time.
public final class GzipCoder implements AutoCloseable {
    private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};
    private static final int TRAILER_BYTES = 8;
    private static final byte[] NOTHING = {};

    /// Less than that, as the header alone, waits for more: each piece becomes a chunk of its own.
    private static final int WORTH_SENDING_BYTES = 512;

    private final Deflater deflater;
    private final CRC32 checksum = new CRC32();

    // One thread at a time.
    private byte[] out = NOTHING;
    private int length;
    private long contentBytes;
    private boolean begun;

    /// @param level from 1, fast, to 9, small
    public GzipCoder(int level) {
        deflater = new Deflater(level, true);
    }

    /// All of it at once. The coder is as new afterwards.
    public byte[] whole(byte[] content) {
        // About what text becomes: most need no other array.
        out = new byte[Math.max(64, content.length / 3)];
        put(content, content.length, Deflater.NO_FLUSH);
        return end();
    }

    /// What comes out for the next bytes; may be empty.
    ///
    /// @param flush whether all of them are to come out
    public byte[] next(byte[] content, int bytes, boolean flush) {
        put(content, bytes, flush ? Deflater.SYNC_FLUSH : Deflater.NO_FLUSH);
        return flush || length >= WORTH_SENDING_BYTES ? take() : NOTHING;
    }

    /// What was held back.
    public byte[] flush() {
        put(NOTHING, 0, Deflater.SYNC_FLUSH);
        return take();
    }

    /// The rest. The coder is as new afterwards.
    public byte[] end() {
        begin();
        deflater.finish();
        deflate(Deflater.NO_FLUSH);
        room(TRAILER_BYTES);
        putLittleEndian(checksum.getValue());
        putLittleEndian(contentBytes);
        byte[] rest = take();
        reset();
        return rest;
    }

    /// Forgets what it was about.
    public void reset() {
        deflater.reset();
        checksum.reset();
        contentBytes = 0;
        begun = false;
        out = NOTHING;
        length = 0;
    }

    private void begin() {
        if (!begun) {
            begun = true;
            room(HEADER.length);
            System.arraycopy(HEADER, 0, out, 0, HEADER.length);
            length = HEADER.length;
        }
    }

    private void put(byte[] content, int bytes, int flush) {
        begin();
        checksum.update(content, 0, bytes);
        contentBytes += bytes;
        deflater.setInput(content, 0, bytes);
        deflate(flush);
    }

    private void deflate(int flush) {
        int made;
        do {
            room(512);
            made = deflater.deflate(out, length, out.length - length, flush);
            length += made;
            // A full array may mean that there is more.
        } while (made > 0 && (length == out.length || !deflater.needsInput()));
    }

    private void room(int bytes) {
        if (out.length - length < bytes) {
            out = Arrays.copyOf(out, Math.max(out.length * 2, length + bytes));
        }
    }

    private void putLittleEndian(long value) {
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            out[length++] = (byte) (value >>> shift);
        }
    }

    private byte[] take() {
        byte[] made = Arrays.copyOf(out, length);
        length = 0;
        return made;
    }

    @Override
    public void close() {
        deflater.end();
    }
}
