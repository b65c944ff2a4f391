package dev.gyre.http.internal.coding;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/// Compresses a body with gzip, at once or in parts. Holds a quarter of a MiB of native memory
/// until [#close()].
///
/// **Threads.** One at a time.
public final class GzipCoder implements AutoCloseable {
    private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};
    private static final int TRAILER_BYTES = 8;
    private static final byte[] EMPTY = {};

    /// Smaller output waits for more: each part becomes a chunk.
    private static final int MIN_OUTPUT_BYTES = 512;

    /// Coders for reuse, with a limit on those in use.
    ///
    /// **Threads.** Any.
    public static final class Pool {
        /// Further unused coders are closed.
        private static final int MAX_IDLE = 16;

        private final int level;
        private final int max;

        // Shared: guarded by this.
        private final ArrayDeque<GzipCoder> idle = new ArrayDeque<>();
        private int inUse;

        /// @param level from 1 to 9
        /// @param max the maximum in use at a time
        public Pool(int level, int max) {
            if (level < 1 || level > 9) {
                throw new IllegalArgumentException("the level must be from 1 to 9, not " + level);
            }
            this.level = level;
            this.max = max;
        }

        /// Returns a coder; `null` if too many are in use.
        public synchronized @Nullable GzipCoder tryAcquire() {
            if (inUse == max) {
                return null;
            }
            inUse++;
            GzipCoder known = idle.pollLast();
            return known != null ? known : new GzipCoder(level);
        }

        public synchronized void release(GzipCoder coder) {
            inUse--;
            if (idle.size() < MAX_IDLE) {
                coder.reset();
                idle.addLast(coder);
            } else {
                coder.close();
            }
        }

        /// Returns the number of coders in use.
        public synchronized int inUse() {
            return inUse;
        }
    }

    private final Deflater deflater;
    private final CRC32 checksum = new CRC32();

    // One thread at a time.
    private byte[] out = EMPTY;
    private int length;
    private long inputBytes;
    private boolean begun;

    /// @param level from 1 (fast) to 9 (small)
    public GzipCoder(int level) {
        deflater = new Deflater(level, true);
    }

    /// Compresses a whole body, and resets the coder.
    public byte[] whole(byte[] body) {
        // Enough for most text.
        out = new byte[Math.max(64, body.length / 3)];
        put(body, body.length, Deflater.NO_FLUSH);
        return end();
    }

    /// Compresses a part of a body. The result may be empty.
    ///
    /// @param flush whether the result includes the whole part
    public byte[] next(byte[] part, int bytes, boolean flush) {
        put(part, bytes, flush ? Deflater.SYNC_FLUSH : Deflater.NO_FLUSH);
        return flush || length >= MIN_OUTPUT_BYTES ? take() : EMPTY;
    }

    /// Returns pending output.
    public byte[] flush() {
        put(EMPTY, 0, Deflater.SYNC_FLUSH);
        return take();
    }

    /// Returns the rest, and resets the coder.
    public byte[] end() {
        begin();
        deflater.finish();
        deflate(Deflater.NO_FLUSH);
        room(TRAILER_BYTES);
        putLittleEndian(checksum.getValue());
        putLittleEndian(inputBytes);
        byte[] rest = take();
        reset();
        return rest;
    }

    public void reset() {
        deflater.reset();
        checksum.reset();
        inputBytes = 0;
        begun = false;
        out = EMPTY;
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

    private void put(byte[] part, int bytes, int flush) {
        begin();
        checksum.update(part, 0, bytes);
        inputBytes += bytes;
        deflater.setInput(part, 0, bytes);
        deflate(flush);
    }

    private void deflate(int flush) {
        int made;
        do {
            room(512);
            made = deflater.deflate(out, length, out.length - length, flush);
            length += made;
            // If the array is full, more output may be pending.
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
