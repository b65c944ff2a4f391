package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
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
    private @Nullable OutputQueue inTheClear;

    /// The turn in which the queue was last offered.
    private long offeredInTick;

    /// Whether something is, or was, offered since it was last empty.
    private boolean offered;

    private boolean enrolled;
    private boolean pressured;
    private boolean ending;
    private boolean endsWhenEmpty;
    private boolean endAsked;
    private boolean ended;
    private long written;
    private long sent;

    /// Who waits for what was written before to be sent; made when first wanted.
    private @Nullable ArrayDeque<Waiting> waiting;

    private record Waiting(long until, Deferred<@Nullable Void> outcome) {}

    /// Who is told of room beside the protocol.
    private @Nullable Runnable onRoom;

    /// A stream that writes here what it reads, and waits while this one is under pressure.
    private @Nullable Runnable feeder;

    /// Whether only [#end()] completes the output: without it the peer must see a reset.
    private boolean needsEnd;

    StreamOutput(Connection connection, LoopOperations operations) {
        this.connection = connection;
        this.operations = operations;
        queue = new OutputQueue(operations.pool());
    }

    // ------------------------------------------------------------------ looking

    boolean isEmpty() {
        return queue.isEmpty() && bytesInTheClear() == 0;
    }

    private long bytesInTheClear() {
        return inTheClear == null ? 0 : inTheClear.bytesBeforeMark();
    }

    boolean isUnderPressure() {
        return pressured;
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
        return !isEmpty() || lacksEnd();
    }

    /// Whether an orderly end of the connection would look like the end of incomplete data.
    boolean lacksEnd() {
        return needsEnd && !ending;
    }

    /// Whether a pipe writes here and has not reached its end.
    boolean isFed() {
        return feeder != null && !ending;
    }

    void requireEnd() {
        needsEnd = true;
    }

    long pending() {
        return bytesInTheClear() + queue.bytes();
    }

    long sent() {
        return sent;
    }

    OutputState state() {
        if (isEmpty()) {
            return OutputState.IDLE;
        }
        boolean late = !enrolled && offeredInTick != operations.tick();
        return pressured || late ? OutputState.BACKPRESSURED : OutputState.PENDING;
    }

    // ------------------------------------------------------------------ writing

    boolean write(NativeBuffer data) {
        if (!mayWrite()) {
            data.clear();
            return false;
        }
        int bytes = data.readable();
        return fits(bytes) && put(queue.put(data), bytes);
    }

    boolean write(byte[] data) {
        return mayWrite() && fits(data.length) && put(queue.put(data), data.length);
    }

    boolean write(ByteBuffer data) {
        if (!mayWrite()) {
            data.position(data.limit());
            return false;
        }
        int bytes = data.remaining();
        return fits(bytes) && put(queue.put(data), bytes);
    }

    boolean lend(NativeBuffer data, Consumer<? super Buffer> returned) {
        boolean may = mayWrite();
        BorrowedMemory lent = BorrowedMemory.to(connection, data, returned);
        if (!may || lent.bytes() == 0) {
            lent.giveBack();
            return may && !pressured;
        }
        int bytes = lent.bytes();
        queue.put(lent);
        return fits(0) && put(true, bytes);
    }

    Promise<Long> send(OpenDescriptor file, long offset, long bytes) {
        Deferred<Long> outcome = connection.loop().deferred();
        if (!mayWrite()) {
            outcome.reject(connection.closedException());
        } else if (bytes == 0) {
            outcome.resolve(0L);
        } else if (isAboveLimit(0)) {
            outcome.reject(connection.closedException());
        } else {
            queue.put(new FilePart(file, offset, bytes, outcome));
            put(true, bytes);
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
    private boolean fits(long bytes) {
        if (isAboveLimit(bytes)) {
            return false;
        }
        long all = queue.memoryBytes() + bytes;
        // The last quarter of the loop's memory is for those who need little.
        if (all > connection.config().highWaterMark()
                && operations.pool().wouldBeNearLimit(bytes)) {
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.memoryUsedUp());
            return false;
        }
        return true;
    }

    /// Closes the stream if it is. Files are not in memory, but a million parts of them are.
    private boolean isAboveLimit(long bytes) {
        boolean above = queue.heldBytes() + bytes > connection.config().outputLimit();
        if (above) {
            connection.closeWith(CloseReason.OUTPUT_LIMIT, null);
        }
        return above;
    }

    private boolean put(boolean copied, long bytes) {
        written += bytes;
        if (!copied) {
            connection.closeWith(CloseReason.MEMORY_LIMIT, connection.memoryUsedUp());
            return false;
        }
        long waits = queue.heldBytes();
        enrol();
        if (!pressured
                && (waits > connection.config().highWaterMark()
                        || operations.pool().isNearLimit())) {
            pressured = true;
            connection.updateReading();
        }
        return !pressured;
    }

    private void enrol() {
        if (!enrolled) {
            enrolled = true;
            operations.atTickEnd(flush);
        }
    }

    // ------------------------------------------------------------------ sending

    private void flush() {
        enrolled = false;
        if (!connection.isOpenOrDraining()) {
            return;
        }
        if (!queue.isEmpty()) {
            offeredInTick = operations.tick();
            if (!offered) {
                offered = true;
                connection.times.outputBegins();
            }
            connection.wire().flush(queue);
        } else if (ending && !endAsked) {
            endAsked = true;
            connection.wire().endOutput();
        }
    }

    /// So many bytes are gone.
    void taken(long bytes) {
        sent += bytes;
        offered = !isEmpty();
        if (waiting != null) {
            settle(waiting);
        }
        if (!queue.isEmpty() || (ending && !endAsked)) {
            enrol();
        }
        if (pressured && hasRoom()) {
            pressured = false;
            tellRoom();
        }
        endIfEmpty();
    }

    private boolean hasRoom() {
        return queue.isEmpty()
                || (queue.heldBytes() <= connection.config().lowWaterMark()
                        && !operations.pool().isNearLimit());
    }

    private void tellRoom() {
        connection.input.changed();
        if (feeder != null) {
            feeder.run();
        }
        try {
            Protocol speaking = connection.input.protocol();
            if (speaking != null && mayTellRoom()) {
                speaking.onWritable(connection.face());
            }
            Runnable told = onRoom;
            if (told != null && mayTellRoom()) {
                told.run();
            }
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        }
    }

    /// Whether what is told of room could still write: the callback before may have ended it.
    private boolean mayTellRoom() {
        return !ending && connection.isOpen();
    }

    void onRoom(@Nullable Runnable told) {
        onRoom = told;
    }

    void feedFrom(Runnable feeder) {
        if (this.feeder != null) {
            throw new IllegalStateException(
                    connection + " is the target of another pipe: one at a time");
        }
        this.feeder = feeder;
        needsEnd = true;
    }

    Promise<@Nullable Void> flushed() {
        Deferred<@Nullable Void> outcome = connection.loop().deferred();
        if (!connection.isOpenOrDraining()) {
            outcome.reject(connection.closedException());
        } else if (isEmpty()) {
            outcome.resolve(null);
        } else {
            if (waiting == null) {
                waiting = new ArrayDeque<>();
            }
            waiting.add(new Waiting(written, outcome));
        }
        return outcome.promise();
    }

    private void settle(ArrayDeque<Waiting> all) {
        long gone = written - pending(); // And not what was sent: a file may end early.
        for (Waiting first = all.peek(); first != null && first.until <= gone; first = all.peek()) {
            all.remove();
            first.outcome.resolve(null);
        }
    }

    // ------------------------------------------------------------------ ending

    void end() {
        if (!ending) {
            ending = true;
            enrol();
        }
    }

    /// Ends the output after the queued data and what its writer still adds, unless [#requireEnd]
    /// was called.
    void endWhenEmpty() {
        endsWhenEmpty = true;
        endIfEmpty();
    }

    private void endIfEmpty() {
        if (endsWhenEmpty && !needsEnd && queue.isEmpty()) {
            end();
        }
    }

    /// The wire has ended its output.
    void wireEnded() {
        ended = true;
    }

    /// The stream is closed: nobody hears of what was not sent.
    void abandon() {
        if (waiting != null) {
            StreamClosedException closed = connection.closedException();
            for (Waiting each : waiting) {
                each.outcome.reject(closed);
            }
            waiting = null;
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
    OutputQueue giveWay() {
        OutputQueue below = queue;
        queue = new OutputQueue(operations.pool());
        inTheClear = below;
        return below;
    }
}
