package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.memory.HeapShare;
import dev.gyre.io.OutputState;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopMetrics;

import java.util.IdentityHashMap;

/// Whether the loop has memory for an answer. Asked before its head is written: then there is still another answer to
/// give, and afterwards only a reset. The last quarter of that memory is left to those who need little, among them
/// all who are to hear that there is no more.
///
/// Of the loop's memory nothing is reserved: what is written is counted at once, and nobody else writes in between. TLS
/// takes its share when the turn ends, so that is counted in advance.
///
/// Long answers also hold arrays of the heap until their peers have taken them. Those are of the loop's share of it; an
/// array that many are sent counts once.
///
/// Loop thread only.
final class LoopMemory {
    /// What output is kept in.
    static final int PIECE_BYTES = 16 << 10;

    /// So little is never refused: a refusal takes as much.
    static final int TINY_BYTES = 1 << 10;

    /// What TLS encrypts into, ahead of what the socket takes.
    private static final int TLS_BYTES = 2 * (64 << 10);

    private final LoopMetrics metrics;
    private final long all;
    private final IdentityHashMap<byte[], Integer> held = new IdentityHashMap<>();
    private final HeapShare heap;

    LoopMemory(EventLoop loop, HeapShare heap) {
        this.heap = heap;
        metrics = loop.metrics();
        all = loop.config().bufferMemory();
    }

    /// Whether so much can be written to a stream. In the last quarter those who have some get no more.
    boolean has(long bytes, Stream stream) {
        // One piece more than it has bytes, and one for its head.
        long then = metrics.bufferMemory() + bytes + 2 * PIECE_BYTES;
        if (bytes > PIECE_BYTES && stream.tls() != null) {
            then += TLS_BYTES;
        }
        return then <= all / 4 * 3
                || (bytes <= PIECE_BYTES
                        && then <= all
                        && stream.outputState() == OutputState.IDLE);
    }

    /// Whether content of so many bytes can be begun: of what is long, only the first of it is in the loop's memory.
    boolean fits(int bytes, Stream stream) {
        return bytes <= TINY_BYTES || has(Math.min(bytes, LongContent.LEAST_BYTES), stream);
    }

    /// The same of content that stays in its array, if it is long, until the peer has taken it.
    boolean fits(byte[] content, Stream stream) {
        return fits(content.length, stream)
                && (content.length <= LongContent.LEAST_BYTES || mayHold(content));
    }

    private boolean mayHold(byte[] content) {
        return content.length <= heap.limitBytes() - heap.takenBytes() || held.containsKey(content);
    }

    /// One that was just said to fit.
    void hold(byte[] content) {
        if (held.merge(content, 1, Integer::sum) == 1) {
            boolean taken = heap.take(content.length);
            assert taken : "not asked for: " + content.length;
        }
    }

    /// Once for each time that it was held.
    void letGo(byte[] content) {
        if (held.computeIfPresent(content, (_, times) -> times == 1 ? null : times - 1) == null) {
            heap.give(content.length);
        }
    }
}
