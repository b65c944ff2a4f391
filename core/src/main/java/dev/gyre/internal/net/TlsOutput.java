package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.net.OutputQueue.FilePart;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Operation;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Arrays;

import javax.net.ssl.SSLException;

/// What a [TlsTransport] sends. It encrypts a batch of records when the wire below has taken the one before, and leaves the
/// plaintext in its user's queue until then: so that is where a slow peer is noticed. Files are read into memory first.
///
/// Loop thread only.
final class TlsOutput {
    /// Room for three records.
    private static final int RECORDS_BYTES = 1 << 16;

    /// As much is encrypted at once, in full buffers.
    private static final int BATCH_BYTES = 2 * RECORDS_BYTES;

    /// Less than this is copied into a smaller buffer, where it may have to wait.
    private static final int SMALL_BYTES = 4 << 10;

    /// How many pieces of the queue are looked at at once.
    private static final int MAX_PIECES = 64;

    private static final ByteBuffer[] NONE = {};

    private final TlsTransport transport;
    private final TlsEngine engine;
    private final Transport below;

    /// What goes out as it is: records, behind what was written before TLS began.
    private final OutputQueue records;

    /// How much of that was left when it was last looked at.
    private long plaintextLeft;

    private @Nullable OutputQueue source;

    /// How much of the source is encrypted, and not yet sent.
    private long inFlightBytes;

    private boolean ending;
    private boolean endRequested;

    /// What was read of the file that is next.
    private @Nullable NativeBuffer fileBytes;

    private boolean readingFile;
    private boolean belowReleased;

    /// What is encrypted in one go, from which pieces.
    private final ByteBuffer[] views = new ByteBuffer[MAX_PIECES];

    private final NativeBuffer[] pieces = new NativeBuffer[MAX_PIECES];

    TlsOutput(TlsTransport wire, Transport below, OutputQueue carried) {
        this.transport = wire;
        this.engine = wire.engine;
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

    // ------------------------------------------------------------------ encrypting

    /// Encrypts what may be sent now, and sends what the machine itself has to say.
    ///
    /// @return whether anything came of it
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
        endIfDone();
        return records.bytes() != before;
    }

    private boolean encrypt(int count) {
        NativeBuffer out = transport.operations.pool().take(RECORDS_BYTES);
        if (out == null) {
            consumeViews(count);
            transport.fail(CloseReason.MEMORY_LIMIT, null);
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
                            "the peer has ended the connection, which before TLS 1.3 ends both"
                                    + " directions: not everything was sent"));
            return false;
        }
        if (!transport.isDone()) {
            transport.react(next);
        }
        // What is done for now may not be all there is: the handshake may be over just now.
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
            transport.fail(CloseReason.MEMORY_LIMIT, null);
        }
    }

    /// Looks at what is to be encrypted next.
    ///
    /// @return how many views there are
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
            if (piece.bytesToRead() > 0) {
                count = view(piece, count);
            }
        }
        return count;
    }

    private int view(NativeBuffer piece, int count) {
        boolean lent = piece.isInFlight();
        if (lent) {
            piece.takeBack();
        }
        views[count] = piece.asReadable();
        if (lent) {
            piece.lend(transport);
        }
        pieces[count] = piece;
        return count + 1;
    }

    /// Notes what was taken, and forgets the views.
    ///
    /// @return whether something is left
    private boolean consumeViews(int count) {
        boolean left = false;
        for (int i = 0; i < count; i++) {
            int taken = views[i].position();
            left |= views[i].hasRemaining();
            pieces[i].emptied(taken);
            inFlightBytes += taken;
        }
        Arrays.fill(views, 0, count, null);
        Arrays.fill(pieces, 0, count, null);
        return left;
    }

    // ------------------------------------------------------------------ files

    private int gatherFile() {
        NativeBuffer read = fileBytes;
        if (read == null) {
            readFile();
            return 0;
        }
        OutputQueue queue = source;
        FilePart part = queue == null ? null : queue.filePart();
        if (readingFile
                || part == null
                || inFlightBytes == part.left()
                || read.bytesToRead() == 0) {
            return 0;
        }
        view(read, 0);
        views[0].limit((int) Math.min(views[0].limit(), part.left() - inFlightBytes));
        return 1;
    }

    private void readFile() {
        OutputQueue queue = source;
        FilePart part = queue == null ? null : queue.filePart();
        NativeBuffer room = transport.operations.pool().take(RECORDS_BYTES);
        if (part == null || room == null) {
            transport.fail(CloseReason.MEMORY_LIMIT, null);
            return;
        }
        fileBytes = room;
        readingFile = true;
        transport
                .operations
                .pools()
                .buffered()
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
        FilePart part = queue == null ? null : queue.filePart();
        NativeBuffer read = fileBytes;
        if (transport.isDone() || read == null || queue == null || part == null) {
            dropFileBytes();
            releaseIfIdle();
        } else if (bytes < 0) {
            dropFileBytes();
            transport.fail(failure == null ? CloseReason.LOOP_ENDED : CloseReason.FAILED, failure);
        } else if (bytes == 0) {
            dropFileBytes();
            queue.endFile(); // It is shorter than was said.
            transport.handler().onSent(0);
        } else {
            pump();
        }
    }

    private void dropFileBytes() {
        NativeBuffer read = fileBytes;
        fileBytes = null;
        if (read != null) {
            read.release();
        }
    }

    // ------------------------------------------------------------------ sent

    /// The wire below has taken so many bytes.
    void sent(long bytes) {
        long before = plaintextLeft;
        plaintextLeft = records.bytesBeforeMark();
        long told = Math.min(before, bytes);
        if (records.isEmpty() && inFlightBytes > 0) {
            OutputQueue queue = source;
            assert queue != null : "encrypted from nowhere";
            dropFileBytes(); // What is left of them is read again.
            queue.consumed(inFlightBytes);
            told += inFlightBytes;
            inFlightBytes = 0;
        }
        // A file that ended early is no longer waited for either.
        if ((told > 0 || plaintextLeft < before) && !transport.isDone()) {
            transport.handler().onSent(told);
        }
    }

    /// How much of what is encrypted is out: at least so much, as records are longer than what is in them.
    long partiallySent(Transport below) {
        return Math.max(0, inFlightBytes - (records.bytes() - below.partiallySent()));
    }

    /// A close_notify goes out behind everything, and then the end of the wire below.
    void end() {
        ending = true;
        if (!transport.isDone()) {
            pump();
        }
    }

    /// Nothing comes behind the alert of a failure.
    ///
    /// @return false if the wire below had been told of an end before
    boolean endBelow() {
        if (endRequested) {
            return false;
        }
        endRequested = true;
        below.endOutput();
        return true;
    }

    private void endIfDone() {
        if (ending && engine.outputEnded() && records.isEmpty()) {
            endBelow();
        }
    }

    /// The alert of a failure.
    void sendAlert() {
        if (!engine.hasOutput()) {
            return;
        }
        NativeBuffer out = transport.operations.pool().take(RECORDS_BYTES);
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

    /// What the wire below has not taken at once.
    void flushRecords() {
        below.flush(records);
    }

    // ------------------------------------------------------------------ letting go

    /// The wire below has let go.
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

    private void releaseIfIdle() {
        if (belowReleased) {
            transport.handler().onReleased();
        }
    }
}
