package dev.gyre.internal.net;

import dev.gyre.Deferred;
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

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/// What a stream has to send. All that is written in a turn of the loop is flushed at its end.
///
/// ```
///              write                 not all was taken in its turn,
///     IDLE ────────────▶ PENDING ───────────────────────────────────▶ BACKPRESSURED
///       ▲                   │  ▲          or above high water             │    │
///       └───────────────────┘  └───────────────────────────────────────────┘    ▼
///             all sent                  taken, and below low water            closed by
///                                                                        timeout or limit
/// ```
///
/// Loop thread only.
final class StreamOutput {
    private final Connection connection;
    private final LoopOperations operations;
    private final Runnable flush = this::flush;
    private OutputQueue queue;

    /// What was written before TLS began, and goes out in front of it; null without.
    private @Nullable OutputQueue plaintextQueue;

    /// The turn in which the queue was last offered.
    private long flushedInTick;

    /// Whether something is, or was, offered since it was last empty.
    private boolean writing;

    private boolean flushScheduled;
    private boolean backpressured;
    private boolean ending;
    private boolean endsWhenEmpty;
    private boolean endRequested;
    private boolean ended;
    private long written;
    private long sent;

    /// Who waits for what was written before to be sent; made when first wanted.
    private @Nullable ArrayDeque<FlushWaiter> flushWaiters;

    private record FlushWaiter(long until, Deferred<@Nullable Void> outcome) {}

    /// Who is told of room beside the protocol.
    private @Nullable Runnable onWritable;

    /// A stream that writes here what it reads, and waits while this one is under pressure.
    private @Nullable Runnable pipeSource;

    /// Whether only [#end()] completes the output: without it the peer must see a reset.
    private boolean requiresEnd;

    StreamOutput(Connection connection, LoopOperations operations) {
        this.connection = connection;
        this.operations = operations;
        queue = new OutputQueue(operations.pool());
    }

    // ------------------------------------------------------------------ looking

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

    /// Whether closing the stream now would truncate the output: some of it is unsent, or its end
    /// is missing.
    boolean isUnfinished() {
        return !isEmpty() || isMissingEnd();
    }

    /// Whether an orderly end of the connection would look like the end of incomplete data.
    boolean isMissingEnd() {
        return requiresEnd && !ending;
    }

    /// Whether a pipe writes here and has not reached its end.
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
        boolean late = !flushScheduled && flushedInTick != operations.turn();
        return backpressured || late ? OutputState.BACKPRESSURED : OutputState.PENDING;
    }

    // ------------------------------------------------------------------ writing

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
        Deferred<Long> outcome = connection.loop().deferred();
        if (!mayWrite()) {
            outcome.reject(connection.closedException());
        } else if (bytes == 0) {
            outcome.resolve(0L);
        } else if (closeIfAboveLimit(0)) {
            outcome.reject(connection.closedException());
        } else {
            queue.put(new FilePart(file, offset, bytes, outcome));
            queued(true, bytes);
        }
        return outcome.promise();
    }

    /// What the peer does not want any more is no error: it may reset at any time.
    private boolean mayWrite() {
        if (ending && connection.isOpenOrDraining()) {
            throw new IllegalStateException(
                    "written after end() or close(): " + connection + " sends nothing any more");
        }
        return connection.isOpen();
    }

    /// Asked before anything is copied: a huge write is not to take everybody's memory first.
    private boolean isWithinLimits(long bytes) {
        if (closeIfAboveLimit(bytes)) {
            return false;
        }
        long all = queue.memoryBytes() + bytes;
        // The last quarter of the loop's memory is for those who need little.
        if (all > connection.config.highWater() && operations.pool().wouldBeTight(bytes)) {
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.bufferMemoryExhausted());
            return false;
        }
        return true;
    }

    /// Closes the stream if it is. Files are not in memory, but a million parts of them are.
    private boolean closeIfAboveLimit(long bytes) {
        boolean above = queue.heldBytes() + bytes > connection.config.outputLimit();
        if (above) {
            connection.closeWith(CloseReason.OUTPUT_LIMIT, null);
        }
        return above;
    }

    private boolean queued(boolean copied, long bytes) {
        written += bytes;
        if (!copied) {
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.bufferMemoryExhausted());
            return false;
        }
        long waits = queue.heldBytes();
        scheduleFlush();
        if (!backpressured
                && (waits > connection.config.highWater() || operations.pool().isTight())) {
            backpressured = true;
            connection.updateReading();
        }
        return !backpressured;
    }

    private void scheduleFlush() {
        if (!flushScheduled) {
            flushScheduled = true;
            operations.atTurnEnd(flush);
        }
    }

    // ------------------------------------------------------------------ sending

    private void flush() {
        flushScheduled = false;
        if (!connection.isOpenOrDraining()) {
            return;
        }
        if (!queue.isEmpty()) {
            flushedInTick = operations.turn();
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

    /// So many bytes are gone.
    void onSent(long bytes) {
        sent += bytes;
        writing = !isEmpty();
        if (flushWaiters != null) {
            resolveFlushWaiters(flushWaiters);
        }
        if (!queue.isEmpty() || (ending && !endRequested)) {
            scheduleFlush();
        }
        if (backpressured && hasRoom()) {
            backpressured = false;
            notifyWritable();
        }
        endIfEmpty();
    }

    private boolean hasRoom() {
        return queue.isEmpty()
                || (queue.heldBytes() <= connection.config.lowWater()
                        && !operations.pool().isTight());
    }

    private void notifyWritable() {
        connection.input.resumeDelivery();
        if (pipeSource != null) {
            pipeSource.run();
        }
        try {
            Protocol speaking = connection.input.protocol();
            if (speaking != null && mayNotifyWritable()) {
                speaking.onWritable(connection.stream);
            }
            Runnable told = onWritable;
            if (told != null && mayNotifyWritable()) {
                told.run();
            }
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    /// Whether what is told of room could still write: the callback before may have ended it.
    private boolean mayNotifyWritable() {
        return !ending && connection.isOpen();
    }

    void onWritable(@Nullable Runnable told) {
        onWritable = told;
    }

    void attachPipe(Runnable feeder) {
        if (this.pipeSource != null) {
            throw new IllegalStateException(
                    connection + " is the target of another pipe: one at a time");
        }
        this.pipeSource = feeder;
        requiresEnd = true;
    }

    Promise<@Nullable Void> flushed() {
        Deferred<@Nullable Void> outcome = connection.loop().deferred();
        if (!connection.isOpenOrDraining()) {
            outcome.reject(connection.closedException());
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
        long gone = written - pending(); // And not what was sent: a file may end early.
        for (FlushWaiter first = all.peek();
                first != null && first.until <= gone;
                first = all.peek()) {
            all.remove();
            first.outcome.resolve(null);
        }
    }

    // ------------------------------------------------------------------ ending

    void end() {
        if (!ending) {
            ending = true;
            scheduleFlush();
        }
    }

    /// Ends the output after the queued data and what its writer still adds, unless [#requireEnd]
    /// was called.
    void endWhenEmpty() {
        endsWhenEmpty = true;
        endIfEmpty();
    }

    private void endIfEmpty() {
        if (endsWhenEmpty && !requiresEnd && queue.isEmpty()) {
            end();
        }
    }

    /// The wire has ended its output.
    void transportEnded() {
        ended = true;
    }

    /// The stream is closed: nobody hears of what was not sent.
    void rejectFlushWaiters() {
        if (flushWaiters != null) {
            StreamClosedException closed = connection.closedException();
            for (FlushWaiter each : flushWaiters) {
                each.outcome.reject(closed);
            }
            flushWaiters = null;
        }
    }

    /// Nothing is in use any more.
    void release() {
        if (!queue.isEmpty()) {
            queue.clear(connection.closedException());
        }
    }

    /// What waits so far stays as it is, below; what comes from now on goes through another wire.
    ///
    /// @return what waits so far
    OutputQueue detachQueue() {
        OutputQueue below = queue;
        queue = new OutputQueue(operations.pool());
        plaintextQueue = below;
        return below;
    }
}
