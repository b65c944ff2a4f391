package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.OutputState;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopMetrics;

import java.util.IdentityHashMap;

/// Decides whether the loop has memory for a response, before its head is written: until then a 503
/// can be sent instead, and afterwards only a reset. The last quarter of the memory is reserved for
/// small responses, among them every 503.
///
/// Nothing is reserved in advance: the loop counts output when it is written, and nothing else
/// writes in between. TLS allocates at the end of the tick, so its share is added here.
///
/// Large bodies also hold arrays of the heap until the client has read them. They count against the
/// loop's [HeapBudget]. An array that many clients receive counts once.
///
/// Loop thread only.
final class OutputBudget {
    /// The size of the buffers that hold output.
    static final int BUFFER_BYTES = 16 << 10;

    /// Smaller bodies are never rejected: a 503 needs as much.
    static final int ALWAYS_ACCEPTED_BYTES = 1 << 10;

    /// The memory that TLS encrypts into ahead of the socket.
    private static final int TLS_BYTES = 2 * (64 << 10);

    private final LoopMetrics metrics;
    private final long limit;
    private final HeapBudget heap;

    // Loop thread only.
    private final IdentityHashMap<byte[], Integer> held = new IdentityHashMap<>();

    OutputBudget(EventLoop loop, HeapBudget heap) {
        this.heap = heap;
        metrics = loop.metrics();
        limit = loop.config().bufferMemory();
    }

    /// Returns whether `bytes` can be written to a stream. The last quarter is for streams without
    /// pending output.
    boolean has(long bytes, Stream stream) {
        // One more buffer for the body, and one for the head.
        long used = metrics.bufferMemory() + bytes + 2 * BUFFER_BYTES;
        if (bytes > BUFFER_BYTES && stream.tls() != null) {
            used += TLS_BYTES;
        }
        return used <= limit / 4 * 3
                || (bytes <= BUFFER_BYTES
                        && used <= limit
                        && stream.outputState() == OutputState.IDLE);
    }

    /// Returns whether a body can be started. Only the start of a large body uses the loop's
    /// memory.
    boolean fits(int bytes, Stream stream) {
        return bytes <= ALWAYS_ACCEPTED_BYTES
                || has(Math.min(bytes, LargeBodyWriter.MIN_BYTES), stream);
    }

    /// Returns the same for a body that stays in its array if it is large.
    boolean fits(byte[] content, Stream stream) {
        return fits(content.length, stream)
                && (content.length <= LargeBodyWriter.MIN_BYTES
                        || content.length <= heap.limitBytes() - heap.usedBytes()
                        || held.containsKey(content));
    }

    /// Holds an array that [#fits].
    void hold(byte[] content) {
        if (held.merge(content, 1, Integer::sum) == 1) {
            boolean acquired = heap.tryAcquire(content.length);
            assert acquired : "fits() was not called for " + content.length + " bytes";
        }
    }

    /// Releases an array, once per [#hold].
    void release(byte[] content) {
        if (held.computeIfPresent(content, (_, times) -> times == 1 ? null : times - 1) == null) {
            heap.release(content.length);
        }
    }
}
