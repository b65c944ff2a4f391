package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.net.OutputQueue.FilePart;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Arrays;

import javax.net.ssl.SSLException;

/// Encrypts the output of a [TlsTransport], one batch of records at a time. The plaintext stays
/// in the stream's queue until its batch is sent, so that backpressure applies there. Files are
/// read into memory first.
///
/// Loop thread only.
final class TlsOutput {
    /// Room for three records.
    private static final int RECORDS_BYTES = 1 << 16;

    private static final int BATCH_BYTES = 2 * RECORDS_BYTES;

    /// Smaller output is copied, so that a mostly empty buffer does not wait for the peer.
    private static final int SMALL_BYTES = 4 << 10;

    private static final int MAX_PIECES = 64;

    private static final ByteBuffer[] NONE = {};

    private final TlsTransport transport;
    private final TlsEngine engine;
    private Transport below;

    /// Output of the transport below: plaintext from before TLS, then records.
    private final OutputQueue records;

    /// Plaintext bytes in `records` that are not reported as sent.
    private long plaintextLeft;

    private @Nullable OutputQueue source;

    /// Encrypted bytes of the source that are not sent yet.
    private long inFlightBytes;

    private boolean ending;
    private boolean endRequested;

    /// Bytes that were read from the file at the head of the source.
    private @Nullable NativeBuffer fileBytes;

    private boolean readingFile;
    private boolean belowReleased;

    /// The plaintext of one call of the engine, and the buffers it belongs to.
    private final ByteBuffer[] views = new ByteBuffer[MAX_PIECES];

    private final NativeBuffer[] pieces = new NativeBuffer[MAX_PIECES];

    TlsOutput(TlsTransport transport, Transport below, OutputQueue carried) {
        this.transport = transport;
        this.engine = transport.engine;
        this.below = below;
        this.records = carried;
        carried.mark();
        this.plaintextLeft = carried.bytesBeforeMark();
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    void setSource(OutputQueue queue) {
        source = queue;
    }

    /// Encrypts and sends as much as possible, including messages of the engine itself.
    ///
    /// @return whether there was any output
    boolean pump() {
        boolean fresh = inFlightBytes == 0; // One batch at a time.
        long before = records.bytes();
        boolean more = true;
        while (more && records.bytes() - records.bytesBeforeMark() < BATCH_BYTES) {
            int count = fresh && engine.session() != null ? gather() : 0;
            if (count == 0 && !engine.hasOutput()) {
                break;
            }
            more = encrypt(count);
        }
        if (!records.isEmpty()) {
            below.flush(records);
        }
        if (ending && engine.outputEnded() && records.isEmpty()) {
            endBelow();
        }
        return records.bytes() != before;
    }

    private boolean encrypt(int count) {
        NativeBuffer out = transport.operations.pool().acquire(RECORDS_BYTES);
        if (out == null) {
            consumeViews(count);
            transport.failForMemory();
            return false;
        }
        ByteBuffer into = out.asWritable();
        Next next = engine.send(count == 0 ? NONE : views, 0, count, into);
        out.advance(into.position());
        boolean left = consumeViews(count);
        enqueue(out);
        if (next == Next.END && left) {
            transport.fail(
                    CloseReason.TLS_FAILED,
                    new SSLException(
                            "the peer closed the TLS session before all output was sent: before TLS"
                                    + " 1.3 this ends both directions"));
            return false;
        }
        if (!transport.isDone()) {
            transport.react(next);
        }
        // DONE may precede more output: the handshake may have just completed.
        return (next == Next.ROOM || next == Next.DONE) && !transport.isDone();
    }

    private void enqueue(NativeBuffer out) {
        int bytes = out.readable();
        if (bytes > SMALL_BYTES) {
            records.putOwned(out);
            return;
        }
        boolean fits = bytes == 0 || records.put(out);
        out.release();
        if (!fits) {
            transport.failForMemory();
        }
    }

    /// Collects views of the next plaintext, and returns their number.
    private int gather() {
        OutputQueue queue = source;
        if (queue == null || queue.isEmpty()) {
            return 0;
        }
        if (queue.filePart() != null) {
            return gatherFile();
        }
        int count = 0;
        for (int i = 0; count < MAX_PIECES; i++) {
            NativeBuffer piece = queue.memory(i);
            if (piece == null) {
                break;
            }
            if (piece.readableBytes() > 0) {
                count = view(piece, count);
            }
        }
        return count;
    }

    private int view(NativeBuffer piece, int count) {
        boolean lent = piece.isInFlight();
        if (lent) {
            piece.endLoan();
        }
        views[count] = piece.asReadable();
        if (lent) {
            piece.lendTo(transport);
        }
        pieces[count] = piece;
        return count + 1;
    }

    /// Marks the encrypted bytes as consumed and clears the views.
    ///
    /// @return whether plaintext is left
    private boolean consumeViews(int count) {
        boolean left = false;
        for (int i = 0; i < count; i++) {
            int taken = views[i].position();
            left |= views[i].hasRemaining();
            pieces[i].advanceReadIndex(taken);
            inFlightBytes += taken;
        }
        Arrays.fill(views, 0, count, null);
        Arrays.fill(pieces, 0, count, null);
        return left;
    }

    private @Nullable FilePart filePart() {
        return source == null ? null : source.filePart();
    }

    private int gatherFile() {
        NativeBuffer read = fileBytes;
        if (read == null) {
            readFile();
            return 0;
        }
        FilePart part = filePart();
        if (readingFile
                || part == null
                || inFlightBytes == part.left()
                || read.readableBytes() == 0) {
            return 0;
        }
        view(read, 0);
        views[0].limit((int) Math.min(views[0].limit(), part.left() - inFlightBytes));
        return 1;
    }

    private void readFile() {
        FilePart part = filePart();
        NativeBuffer room = transport.operations.pool().acquire(RECORDS_BYTES);
        if (part == null || room == null) {
            transport.failForMemory();
            return;
        }
        fileBytes = room;
        readingFile = true;
        transport
                .operations
                .pools()
                .buffered
                .acquire()
                .of(Opcode.FILE_READ, part.file, room, this::fileRead)
                .at(part.offset())
                .start();
    }

    private void fileRead(Operation done) {
        readingFile = false;
        long bytes = done.result();
        SystemCallException failure = bytes < 0 ? done.failure() : null;
        done.release();
        OutputQueue queue = source;
        if (transport.isDone() || fileBytes == null || queue == null || filePart() == null) {
            dropFileBytes();
            if (belowReleased) {
                transport.handler().onReleased();
            }
        } else if (bytes < 0) {
            dropFileBytes();
            transport.fail(failure == null ? CloseReason.LOOP_ENDED : CloseReason.FAILED, failure);
        } else if (bytes == 0) {
            dropFileBytes();
            queue.endFile(); // The file is shorter than requested.
            transport.handler().onSent(0);
        } else {
            pump();
        }
        transport.onStopped();
    }

    private void dropFileBytes() {
        NativeBuffer read = fileBytes;
        fileBytes = null;
        if (read != null) {
            read.release();
        }
    }

    void sent(long bytes) {
        long before = plaintextLeft;
        plaintextLeft = records.bytesBeforeMark();
        long reported = Math.min(before, bytes);
        if (records.isEmpty() && inFlightBytes > 0) {
            OutputQueue queue = source;
            assert queue != null : "encrypted without a source";
            dropFileBytes(); // The unsent rest is read again.
            queue.consumed(inFlightBytes);
            reported += inFlightBytes;
            inFlightBytes = 0;
        }
        // A file that ended early also changes the plaintext bytes.
        if ((reported > 0 || plaintextLeft < before) && !transport.isDone()) {
            transport.handler().onSent(reported);
        }
    }

    /// A lower bound of the sent plaintext, as records are longer than their content.
    long partiallySent() {
        return Math.max(0, inFlightBytes - (records.bytes() - below.partiallySent()));
    }

    /// Sends a close_notify after all output, then ends the output of the transport below.
    void end() {
        ending = true;
        if (!transport.isDone()) {
            pump();
        }
    }

    /// Returns false if it was ended before.
    boolean endBelow() {
        if (endRequested) {
            return false;
        }
        endRequested = true;
        below.endOutput();
        return true;
    }

    void sendAlert() {
        if (!engine.hasOutput()) {
            return;
        }
        NativeBuffer out = transport.operations.pool().acquire(RECORDS_BYTES);
        if (out != null) {
            ByteBuffer into = out.asWritable();
            engine.send(into);
            out.advance(into.position());
            enqueue(out);
        }
        if (!records.isEmpty()) {
            below.flush(records);
        }
    }

    /// Sends the rest of the alert.
    void flushRecords() {
        below.flush(records);
    }

    /// Copies the file bytes out of the loop's pool before a move.
    void detachMemory() {
        NativeBuffer read = fileBytes;
        if (read != null) {
            fileBytes = StreamMove.copyOf(read);
            read.release();
        }
    }

    void attach(Transport below) {
        this.below = below;
    }

    /// The transport below has been released.
    void release() {
        belowReleased = true;
        records.clear(new SSLException("the connection was closed"));
        if (!readingFile) {
            dropFileBytes();
        }
    }

    boolean isReleased() {
        return !readingFile;
    }
}
