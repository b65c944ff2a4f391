package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;
import dev.gyre.io.operation.Operation;

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
    private static final int PIECES = 64;

    private static final ByteBuffer[] NONE = {};

    private final TlsTransport wire;
    private final TlsEngine machine;
    private final Transport below;

    /// What goes out as it is: records, behind what was written before TLS began.
    private final OutputQueue records;

    /// How much of that was left when it was last looked at.
    private long carried;

    private @Nullable OutputQueue source;

    /// How much of the source is encrypted, and not yet sent.
    private long underway;

    private boolean ending;
    private boolean endPassedOn;

    /// What was read of the file that is next.
    private @Nullable NativeBuffer fileBytes;

    private boolean readingFile;
    private boolean belowReleased;

    /// What is encrypted in one go, from which pieces.
    private final ByteBuffer[] views = new ByteBuffer[PIECES];

    private final NativeBuffer[] pieces = new NativeBuffer[PIECES];

    TlsOutput(TlsTransport wire, Transport below, OutputQueue carried) {
        this.wire = wire;
        this.machine = wire.machine;
        this.below = below;
        this.records = carried;
        carried.mark();
        this.carried = carried.bytesBeforeMark();
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    void offer(OutputQueue queue) {
        source = queue;
    }

    // ------------------------------------------------------------------ encrypting

    /// Encrypts what may be sent now, and sends what the machine itself has to say.
    ///
    /// @return whether anything came of it
    boolean pump() {
        boolean fresh = underway == 0; // One batch at a time.
        long before = records.bytes();
        boolean more = true;
        while (more && records.bytes() - records.bytesBeforeMark() < BATCH_BYTES) {
            int count = fresh && machine.session() != null ? gather() : 0;
            if (count == 0 && !machine.hasOutput()) {
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
        NativeBuffer out = wire.operations.pool().acquire(RECORDS_BYTES);
        if (out == null) {
            putBack(count);
            wire.fail(CloseReason.MEMORY_LIMIT, null);
            return false;
        }
        ByteBuffer into = out.asWritable();
        Next next = machine.send(count == 0 ? NONE : views, 0, count, into);
        out.advance(into.position());
        boolean left = putBack(count);
        hand(out);
        if (next == Next.END && left) {
            wire.fail(
                    CloseReason.TLS_FAILED,
                    new SSLException(
                            "the peer has ended the connection, which before TLS 1.3 ends both"
                                    + " directions: not everything was sent"));
            return false;
        }
        if (!wire.isOver()) {
            wire.noticed(next);
        }
        // What is done for now may not be all there is: the handshake may be over just now.
        return (next == Next.ROOM || next == Next.DONE) && !wire.isOver();
    }

    private void hand(NativeBuffer out) {
        int bytes = out.readable();
        if (bytes > SMALL_BYTES) {
            records.hand(out);
            return;
        }
        boolean fits = bytes == 0 || records.put(out);
        out.release();
        if (!fits) {
            wire.fail(CloseReason.MEMORY_LIMIT, null);
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
        for (int i = 0; count < PIECES; i++) {
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
            piece.lendTo(wire);
        }
        pieces[count] = piece;
        return count + 1;
    }

    /// Notes what was taken, and forgets the views.
    ///
    /// @return whether something is left
    private boolean putBack(int count) {
        boolean left = false;
        for (int i = 0; i < count; i++) {
            int taken = views[i].position();
            left |= views[i].hasRemaining();
            pieces[i].advanceReadIndex(taken);
            underway += taken;
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
        if (readingFile || part == null || underway == part.left() || read.readableBytes() == 0) {
            return 0;
        }
        view(read, 0);
        views[0].limit((int) Math.min(views[0].limit(), part.left() - underway));
        return 1;
    }

    private void readFile() {
        OutputQueue queue = source;
        FilePart part = queue == null ? null : queue.filePart();
        NativeBuffer room = wire.operations.pool().acquire(RECORDS_BYTES);
        if (part == null || room == null) {
            wire.fail(CloseReason.MEMORY_LIMIT, null);
            return;
        }
        fileBytes = room;
        readingFile = true;
        wire.operations
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
        if (wire.isOver() || read == null || queue == null || part == null) {
            dropFileBytes();
            releaseIfThrough();
        } else if (bytes < 0) {
            dropFileBytes();
            wire.fail(failure == null ? CloseReason.LOOP_ENDED : CloseReason.FAILED, failure);
        } else if (bytes == 0) {
            dropFileBytes();
            queue.endFile(); // It is shorter than was said.
            wire.user().onSent(0);
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
        long before = carried;
        carried = records.bytesBeforeMark();
        long told = Math.min(before, bytes);
        if (records.isEmpty() && underway > 0) {
            OutputQueue queue = source;
            assert queue != null : "encrypted from nowhere";
            dropFileBytes(); // What is left of them is read again.
            queue.taken(underway);
            told += underway;
            underway = 0;
        }
        // A file that ended early is no longer waited for either.
        if ((told > 0 || carried < before) && !wire.isOver()) {
            wire.user().onSent(told);
        }
    }

    /// How much of what is encrypted is out: at least so much, as records are longer than what is in them.
    long partlySent(Transport below) {
        return Math.max(0, underway - (records.bytes() - below.partlySent()));
    }

    /// A close_notify goes out behind everything, and then the end of the wire below.
    void end() {
        ending = true;
        if (!wire.isOver()) {
            pump();
        }
    }

    /// Nothing comes behind the alert of a failure.
    ///
    /// @return false if the wire below had been told of an end before
    boolean endBelow() {
        if (endPassedOn) {
            return false;
        }
        endPassedOn = true;
        below.endOutput();
        return true;
    }

    private void endIfDone() {
        if (ending && machine.outputEnded() && records.isEmpty()) {
            endBelow();
        }
    }

    /// The alert of a failure.
    void sayGoodbye() {
        if (!machine.hasOutput()) {
            return;
        }
        NativeBuffer out = wire.operations.pool().acquire(RECORDS_BYTES);
        if (out != null) {
            ByteBuffer into = out.asWritable();
            machine.send(into);
            out.advance(into.position());
            hand(out);
        }
        if (!records.isEmpty()) {
            below.flush(records);
        }
    }

    /// What the wire below has not taken at once.
    void sayOn() {
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

    private void releaseIfThrough() {
        if (belowReleased) {
            wire.user().onReleased();
        }
    }
}
