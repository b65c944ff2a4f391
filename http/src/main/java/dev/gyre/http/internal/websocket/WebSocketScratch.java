package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.memory.ByteArrayPool;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.zip.Deflater;

/// Memory and zlib states that all sockets of a loop share. A call uses them and leaves nothing in
/// them, so an idle socket holds no such memory: 40 KB to inflate, 300 KB to deflate.
///
/// Each loop has one instance for its servers and clients. It is closed with the loop.
///
/// Loop thread only.
final class WebSocketScratch implements AutoCloseable {
    static final int SCRATCH_BYTES = 64 << 10;

    /// The minimum length of compressed messages. Compression of shorter ones costs more than it
    /// saves.
    static final int MIN_COMPRESSED_BYTES = 64;

    /// The end of a flushed block, omitted in messages.
    private static final int DEFLATE_TAIL_BYTES = 4;

    private static final int KEY_POOL_BYTES = 1 << 10;

    // Shared: by all threads that open sockets, under its own lock.
    private static final Map<EventLoop, WebSocketScratch> BY_LOOP =
            Collections.synchronizedMap(new WeakHashMap<>());

    /// Holds an unmasked payload.
    final byte[] scratch = new byte[SCRATCH_BYTES];

    /// Holds the result of compression or decompression.
    final byte[] second = new byte[SCRATCH_BYTES];

    /// Holds a header to write.
    final byte[] header = new byte[FrameHeader.MAX_BYTES];

    /// Holds a frame to write.
    final Buffer frame = Buffer.allocate(FrameHeader.MAX_BYTES + SCRATCH_BYTES);

    /// Replaces the arrays above for long messages.
    final ByteArrayPool arrays;

    /// Counts incomplete and waiting messages.
    final HeapBudget heap;

    /// Receives the messages of groups from other threads.
    final GroupInbox inbox;

    /// Validates complete text.
    final Utf8Validator validator = new Utf8Validator();

    final Inflation inflation = new Inflation(this);

    // Loop thread only.
    private @Nullable Deflater deflater;
    private @Nullable Buffer delivery;
    private boolean outputLimitWarned;
    private long workedBytes;
    private final SecureRandom random = new SecureRandom();
    private final ByteBuffer keys = ByteBuffer.allocate(KEY_POOL_BYTES).limit(0);

    private WebSocketScratch(EventLoop loop) {
        arrays = new ByteArrayPool(loop, () -> delivery = null);
        heap = HeapBudget.of(loop);
        inbox = new GroupInbox(heap.limitBytes() / 4);
    }

    /// Returns the instance of a loop. Loop-confined.
    static WebSocketScratch of(EventLoop loop) {
        return BY_LOOP.computeIfAbsent(
                loop,
                owner -> {
                    WebSocketScratch made = new WebSocketScratch(owner);
                    owner.own(made);
                    return made;
                });
    }

    /// Returns an unpredictable masking key: RFC 6455, section 10.3.
    int newKey() {
        if (!keys.hasRemaining()) {
            random.nextBytes(keys.array());
            keys.clear();
        }
        return keys.getInt();
    }

    /// Logs once per loop that a socket was closed because its user ignored `false`.
    void warnOfOutputLimit(LoopWebSocket socket) {
        if (!outputLimitWarned) {
            outputLimitWarned = true;
            System.getLogger("dev.gyre.http")
                    .log(
                            System.Logger.Level.WARNING,
                            socket
                                    + " was closed: pending output exceeded"
                                    + " StreamConfig.outputLimit. When send returns false, continue"
                                    + " in onWritable, or drop messages"
                                    + " (WebSocketConfig.withSlowConsumerPolicy). This is logged"
                                    + " once per loop");
        }
    }

    // ------------------------------------------------------------------ compression

    /// Returns an array for [#deflate]. Return it to [#arrays].
    byte[] roomToDeflate(int length) {
        int needed = length + DEFLATE_TAIL_BYTES;
        return needed <= second.length ? second : arrays.acquire(needed);
    }

    /// Compresses a message without context takeover (RFC 7692), so one result serves all sockets.
    ///
    /// @param room of [#roomToDeflate]
    /// @return the compressed length; -1 if it is not smaller
    int deflate(ByteBuffer payload, byte[] room) {
        Deflater known = deflater;
        if (known == null) {
            // The fastest level saves most of the bytes, and the loop's time is scarce.
            known = new Deflater(Deflater.BEST_SPEED, true);
            deflater = known;
        }
        int length = payload.remaining();
        int max = length + DEFLATE_TAIL_BYTES;
        known.setInput(payload.duplicate());
        int size = known.deflate(room, 0, max, Deflater.SYNC_FLUSH);
        known.reset(); // Also drops the reference to the payload.
        addWork(length);
        return size < max ? size - DEFLATE_TAIL_BYTES : -1;
    }

    /// Counts bytes that were inflated or deflated.
    void addWork(long bytes) {
        workedBytes += bytes;
    }

    long workedBytes() {
        return workedBytes;
    }

    // ------------------------------------------------------------------ long messages

    /// Returns the reused buffer for delivering long messages as slices. Null if the message is too
    /// long to reuse it, or the JVM has no direct memory left. The loop may still have some.
    @Nullable Buffer delivery(int bytes) {
        if (bytes > ByteArrayPool.MAX_POOLED_BYTES) {
            return null;
        }
        Buffer known = delivery;
        if (known == null || known.capacity() < bytes) {
            try {
                known = Buffer.allocate(ByteArrayPool.roundUp(bytes));
            } catch (OutOfMemoryError e) {
                return null;
            }
            delivery = known;
        }
        arrays.markUsed();
        return known.clear();
    }

    /// Frees native memory when the loop terminates.
    @Override
    public void close() {
        inflation.close();
        if (deflater != null) {
            deflater.end();
            deflater = null;
        }
    }
}
