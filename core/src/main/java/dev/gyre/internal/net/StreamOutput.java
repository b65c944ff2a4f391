package dev.gyre.internal.net;

import dev.gyre.Promise;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.net.OutputQueue.FilePart;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.OutputState;
import dev.gyre.io.Protocol;
import dev.gyre.io.StreamClosedException;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/// The pending output of a stream. The flush step of a tick sends all of it.
///
/// ```
///              write              the kernel took only a part of it,
///     IDLE ────────────▶ PENDING ───────────────────────────────────▶ BACKPRESSURED
///       ▲                   │  ▲          or above high water             │    │
///       └───────────────────┘  └───────────────────────────────────────────┘    ▼
///             all sent              sent, and below low water                 closed by
///                                                                        timeout or limit
/// ```
///
/// Loop thread only.
final class StreamOutput {
    private final Connection connection;
    private LoopOperations operations;
    private final Runnable flush = this::flush;
    private OutputQueue queue;

    /// Output written before TLS started, sent ahead of it; null without TLS.
    private @Nullable OutputQueue plaintextQueue;

    private long flushedInTick;

    /// Whether a flush has started since the queue was last empty.
    private boolean writing;

    private boolean flushScheduled;
    private boolean backpressured;
    private boolean ending;
    private boolean endsWhenEmpty;
    private boolean endRequested;
    private boolean ended;
    private long written;
    private long sent;
    private @Nullable ArrayDeque<FlushWaiter> flushWaiters;

    private record FlushWaiter(long until, StreamPromise<@Nullable Void> outcome) {}

    /// The user's callback, in addition to the protocol's.
    private @Nullable Runnable onWritable;

    /// Resumes the stream that a pipe reads from.
    private @Nullable Runnable pipeSource;

    /// Whether only [#end()] completes the output. Without it the peer must see a reset.
    private boolean requiresEnd;

    StreamOutput(Connection connection, LoopOperations operations) {
        this.connection = connection;
        this.operations = operations;
        queue = new OutputQueue(operations.pool());
    }

    boolean isEmpty() {
        return queue.isEmpty() && plaintextBytes() == 0;
    }

    private long plaintextBytes() {
        return plaintextQueue == null ? 0 : plaintextQueue.bytesBeforeMark();
    }

    boolean isBackpressured() {
        return backpressured;
    }

    boolean isEnding() {
        return ending;
    }

    boolean hasEnded() {
        return ended;
    }

    /// Whether closing the stream now would truncate the output.
    boolean isUnfinished() {
        return !isEmpty() || isMissingEnd();
    }

    /// Whether the end is required and missing, so that an orderly close would hide truncation.
    boolean isMissingEnd() {
        return requiresEnd && !ending;
    }

    /// Whether a pipe writes or has written to this stream.
    boolean hadPipe() {
        return pipeSource != null;
    }

    /// Whether a pipe writes to this stream and has not reached its end.
    boolean hasUnfinishedPipe() {
        return pipeSource != null && !ending;
    }

    void requireEnd() {
        requiresEnd = true;
    }

    long pending() {
        return plaintextBytes() + queue.bytes();
    }

    long sent() {
        return sent;
    }

    OutputState state() {
        if (isEmpty()) {
            return OutputState.IDLE;
        }
        boolean late = !flushScheduled && flushedInTick != operations.tick();
        return backpressured || late ? OutputState.BACKPRESSURED : OutputState.PENDING;
    }

    boolean write(NativeBuffer data) {
        if (!mayWrite()) {
            data.clear();
            return false;
        }
        int bytes = data.readable();
        return isWithinLimits(bytes) && queued(queue.put(data), bytes);
    }

    boolean write(byte[] data) {
        return mayWrite() && isWithinLimits(data.length) && queued(queue.put(data), data.length);
    }

    boolean write(ByteBuffer data) {
        if (!mayWrite()) {
            data.position(data.limit());
            return false;
        }
        int bytes = data.remaining();
        return isWithinLimits(bytes) && queued(queue.put(data), bytes);
    }

    boolean lend(NativeBuffer data, Consumer<? super Buffer> returned) {
        boolean may = mayWrite();
        int bytes = queue.lend(connection, data, returned, may);
        if (bytes == 0) {
            return may && !backpressured;
        }
        return isWithinLimits(0) && queued(true, bytes);
    }

    Promise<Long> send(OpenDescriptor file, long offset, long bytes) {
        StreamPromise<Long> outcome = new StreamPromise<>(connection.loop().deferred());
        if (!mayWrite()) {
            outcome.reject(connection.lifecycle.closedException());
        } else if (bytes == 0) {
            outcome.resolve(0L);
        } else if (closeIfAboveLimit(0)) {
            outcome.reject(connection.lifecycle.closedException());
        } else {
            queue.put(new FilePart(file, offset, bytes, outcome));
            queued(true, bytes);
        }
        return outcome.promise();
    }

    /// Writing to a closed stream is no error, as the peer may reset at any time.
    private boolean mayWrite() {
        if (ending && connection.isOpenOrDraining()) {
            throw new IllegalStateException(
                    "cannot write to " + connection + " after end() or close()");
        }
        return connection.isOpen();
    }

    /// Checked before copying, so that one huge write cannot exhaust the loop's memory.
    private boolean isWithinLimits(long bytes) {
        if (closeIfAboveLimit(bytes)) {
            return false;
        }
        long all = queue.memoryBytes() + bytes;
        // The last quarter of the loop's memory is reserved for streams that hold little.
        if (all > connection.config.highWaterMark() && operations.pool().wouldBeNearLimit(bytes)) {
            connection.lifecycle.close(
                    CloseReason.MEMORY_LIMIT, connection.streams.bufferMemoryExhausted());
            return false;
        }
        return true;
    }

    /// Closes the stream if its output exceeds the limit. File ranges count with their heap size.
    private boolean closeIfAboveLimit(long bytes) {
        boolean above = queue.heldBytes() + bytes > connection.config.outputLimit();
        if (above) {
            connection.lifecycle.close(CloseReason.OUTPUT_LIMIT, null);
        }
        return above;
    }

    private boolean queued(boolean copied, long bytes) {
        written += bytes;
        if (!copied) {
            connection.lifecycle.close(
                    CloseReason.MEMORY_LIMIT, connection.streams.bufferMemoryExhausted());
            return false;
        }
        long waits = queue.heldBytes();
        scheduleFlush();
        if (!backpressured
                && (waits > connection.config.highWaterMark() || operations.pool().isNearLimit())) {
            backpressured = true;
            connection.trace(Kind.HIGH_WATER, waits, " bytes pending");
            connection.updateReading();
        }
        return !backpressured;
    }

    private void scheduleFlush() {
        if (!flushScheduled) {
            flushScheduled = true;
            operations.beforeFlush(flush);
        }
    }

    private void flush() {
        flushScheduled = false;
        if (!connection.isOpenOrDraining()) {
            return;
        }
        if (!queue.isEmpty()) {
            flushedInTick = operations.tick();
            if (!writing) {
                writing = true;
                connection.timeouts.outputStarted();
            }
            connection.transport().flush(queue);
        } else if (ending && !endRequested) {
            endRequested = true;
            connection.transport().endOutput();
        }
    }

    void onSent(long bytes) {
        sent += bytes;
        writing = !isEmpty();
        if (flushWaiters != null) {
            resolveFlushWaiters(flushWaiters);
        }
        if (!queue.isEmpty() || (ending && !endRequested)) {
            scheduleFlush();
        }
        notifyIfWritable();
        endIfEmpty();
    }

    private void notifyIfWritable() {
        if (backpressured && hasRoom() && !connection.isMoving()) {
            backpressured = false;
            connection.trace(Kind.LOW_WATER, queue.heldBytes(), " bytes pending");
            notifyWritable();
        }
    }

    private boolean hasRoom() {
        return queue.isEmpty()
                || (queue.heldBytes() <= connection.config.lowWaterMark()
                        && !operations.pool().isNearLimit());
    }

    private void notifyWritable() {
        connection.input.resumeDelivery();
        if (pipeSource != null) {
            pipeSource.run();
        }
        try {
            Protocol current = connection.input.protocol();
            if (current != null && mayNotifyWritable()) {
                current.onWritable(connection.stream);
            }
            Runnable callback = onWritable;
            if (callback != null && mayNotifyWritable()) {
                callback.run();
            }
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    /// Whether the stream is still writable: the previous callback may have ended it.
    private boolean mayNotifyWritable() {
        return !ending && connection.isOpen();
    }

    void onWritable(@Nullable Runnable callback) {
        onWritable = callback;
    }

    void attachPipe(Runnable feeder) {
        if (this.pipeSource != null) {
            throw new IllegalStateException(
                    connection + " is the target of another pipe: wait until it ends");
        }
        this.pipeSource = feeder;
        requiresEnd = true;
    }

    Promise<@Nullable Void> flushed() {
        StreamPromise<@Nullable Void> outcome = new StreamPromise<>(connection.loop().deferred());
        if (!connection.isOpenOrDraining()) {
            outcome.reject(connection.lifecycle.closedException());
        } else if (isEmpty()) {
            outcome.resolve(null);
        } else {
            if (flushWaiters == null) {
                flushWaiters = new ArrayDeque<>();
            }
            flushWaiters.add(new FlushWaiter(written, outcome));
        }
        return outcome.promise();
    }

    private void resolveFlushWaiters(ArrayDeque<FlushWaiter> all) {
        long gone = written - pending(); // Not the sent bytes: a file may end early.
        for (FlushWaiter first = all.peek();
                first != null && first.until <= gone;
                first = all.peek()) {
            all.remove();
            first.outcome.resolve(null);
        }
    }

    void end() {
        if (!ending) {
            ending = true;
            scheduleFlush();
        }
    }

    /// Ends the output once the queue is empty, unless [#requireEnd] was called. The writer may
    /// still add output until then.
    void endWhenEmpty() {
        endsWhenEmpty = true;
        endIfEmpty();
    }

    private void endIfEmpty() {
        if (endsWhenEmpty && !requiresEnd && queue.isEmpty()) {
            end();
        }
    }

    void transportEnded() {
        ended = true;
    }

    void rejectFlushWaiters() {
        if (flushWaiters != null) {
            StreamClosedException closed = connection.lifecycle.closedException();
            for (FlushWaiter each : flushWaiters) {
                each.outcome.reject(closed);
            }
            flushWaiters = null;
        }
    }

    /// Releases the queue once no operation uses it.
    void release() {
        if (!queue.isEmpty()) {
            queue.clear(connection.lifecycle.closedException());
        }
    }

    /// Replaces the queue when TLS starts. Later output goes through TLS.
    ///
    /// @return the queue with the plaintext output so far
    OutputQueue detachQueue() {
        OutputQueue below = queue;
        queue = new OutputQueue(operations.pool());
        plaintextQueue = below;
        return below;
    }

    boolean isFlushScheduled() {
        return flushScheduled;
    }

    /// Copies pending output out of the loop's memory before a move, and returns lent buffers.
    void detachMemory() {
        queue.detachMemory(operations);
        if (plaintextQueue != null) {
            plaintextQueue.detachMemory(operations);
        }
        if (flushWaiters != null) {
            flushWaiters.forEach(each -> each.outcome.leave(operations));
        }
    }

    /// Continues on another loop after a move.
    ///
    /// @return false if the memory of that loop is exhausted
    boolean attachMemory(LoopOperations to) {
        operations = to;
        endsWhenEmpty = false; // It was the previous loop that ended.
        return queue.attachMemory(to.pool())
                && (plaintextQueue == null || plaintextQueue.attachMemory(to.pool()));
    }

    void resumeAfterMove() {
        if (!queue.isEmpty() || (ending && !endRequested)) {
            scheduleFlush();
        }
        notifyIfWritable();
    }
}
