package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.io.OutputState;
import dev.gyre.io.Stream;
import dev.gyre.metrics.LoopMetrics;

/// Whether the loop has memory for an answer. Asked before its head is written: then there is still another answer to
/// give, and afterwards only a reset. The last quarter of that memory is left to those who need little, among them
/// all who are to hear that there is no more.
///
/// Nothing is reserved: what is written is counted at once, and nobody else writes in between.
///
/// Loop thread only.
final class LoopMemory {
    /// What output is kept in.
    static final int PIECE_BYTES = 16 << 10;

    /// So little is never refused: a refusal takes as much.
    static final int TINY_BYTES = 1 << 10;

    private final LoopMetrics metrics;
    private final long all;

    LoopMemory(EventLoop loop) {
        metrics = loop.metrics();
        all = loop.config().bufferMemory();
    }

    /// Whether so much can be written to a stream. In the last quarter those who have some get no more.
    boolean has(long bytes, Stream stream) {
        // One piece more than it has bytes, and one for its head.
        long then = metrics.bufferMemory() + bytes + 2 * PIECE_BYTES;
        return then <= all / 4 * 3
                || (bytes <= PIECE_BYTES && then <= all && stream.output() == OutputState.IDLE);
    }
}
