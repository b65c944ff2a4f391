package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.Ciphertext;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// What arrives for a [TlsTransport]: records, cut anywhere. They are taken from where the kernel has put them; only what has to
/// wait is copied and held: the part of a record whose rest has not arrived, and what may not be decrypted yet.
///
/// Loop thread only.
final class TlsInput {
    /// Room for three records, in which they are decrypted.
    private static final int PLAINTEXT_BYTES = 1 << 16;

    /// A peer that has sent less than this of a record is not given room for all of it.
    private static final int EARNEST_BYTES = 4 << 10;

    /// Above this nothing is read below.
    private static final int MOST_HELD = 1 << 16;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private static final String OURS =
            "the stream again: it is valid in the callback that it was handed to, and no longer";

    private final TlsTransport wire;
    private final TlsEngine machine;
    private @Nullable NativeBuffer held;
    private boolean ended;
    private boolean decrypting;

    TlsInput(TlsTransport wire) {
        this.wire = wire;
        machine = wire.machine;
    }

    boolean holds() {
        return held != null || ended;
    }

    boolean hasRoom() {
        return !ended && (held == null || held.readable() <= MOST_HELD);
    }

    // ------------------------------------------------------------------ arriving

    /// What came before everything else.
    void prepend(NativeBuffer first) {
        NativeBuffer later = held;
        held = first;
        if (later != null) {
            hold(later, later.readable());
            later.release();
        }
    }

    void arrived(NativeBuffer data) {
        decrypt(data);
        dropIfEmpty();
        hold(data, data.readable());
    }

    /// The wire below has ended.
    void ended() {
        ended = true;
        goOn();
    }

    /// Decrypts what is held, as far as it goes.
    void goOn() {
        if (decrypting || !wire.mayReceive()) {
            return;
        }
        boolean wantsMore = held == null || decrypt(null);
        dropIfEmpty();
        if (wantsMore && ended && !wire.isOver()) {
            wire.noticed(machine.inputClosed());
        }
    }

    private void dropIfEmpty() {
        NativeBuffer kept = held;
        if (kept != null && kept.readable() == 0) {
            held = null;
            kept.release();
        }
    }

    private void hold(NativeBuffer data, int bytes) {
        if (bytes == 0 || wire.isOver()) {
            return;
        }
        NativeBuffer room = roomFor(data, bytes);
        if (room == null) {
            wire.fail(CloseReason.MEMORY_LIMIT, null);
            return;
        }
        held = room;
        room.transferFrom(data, bytes);
    }

    /// What is held, with room for so much more.
    private @Nullable NativeBuffer roomFor(NativeBuffer data, int bytes) {
        NativeBuffer kept = held;
        if (kept == null) {
            int record = bytes + Ciphertext.of(data.asReadable()).missing();
            return wire.operations
                    .pool()
                    .acquire(bytes < EARNEST_BYTES ? EARNEST_BYTES : Math.max(record, bytes));
        }
        if (kept.writable() >= bytes) {
            return kept;
        }
        int all = kept.readable() + bytes;
        if (all <= kept.capacity()) {
            kept.compact();
            return kept;
        }
        NativeBuffer larger =
                wire.operations.pool().acquire(Math.max(all, TlsEngine.MOST_RECORD_BYTES));
        if (larger != null) {
            larger.transferFrom(kept, kept.readable());
            kept.release();
        }
        return larger;
    }

    // ------------------------------------------------------------------ decrypting

    /// Decrypts as many records as there are, and hands them on.
    ///
    /// @param fresh what has just arrived, behind what is held
    /// @return whether more has to arrive; otherwise something else has to happen first
    private boolean decrypt(@Nullable NativeBuffer fresh) {
        decrypting = true;
        try {
            while (wire.mayReceive()) {
                Next next = machine.session() == null ? handshake(fresh) : records(fresh);
                if (next == Next.ROOM) {
                    continue;
                }
                if (!wire.isOver()) {
                    wire.noticed(next);
                }
                if (next != Next.OUTPUT || !wire.answer()) {
                    return next == Next.INPUT;
                }
            }
            return false;
        } finally {
            decrypting = false;
        }
    }

    private Next handshake(@Nullable NativeBuffer fresh) {
        Ciphertext records = ciphertext(fresh);
        Next next = machine.receive(records, NOTHING);
        skipTaken(records, fresh);
        if (next == Next.ROOM) {
            wire.noticed(next); // The handshake is over: this is the first record after it.
        }
        return next;
    }

    private Next records(@Nullable NativeBuffer fresh) {
        Ciphertext records = ciphertext(fresh);
        if (records.missing() > 0 && !machine.inputEnded()) {
            return Next.INPUT; // Not worth a buffer.
        }
        NativeBuffer plaintext = wire.operations.pool().acquire(PLAINTEXT_BYTES);
        if (plaintext == null) {
            wire.fail(CloseReason.MEMORY_LIMIT, null);
            return Next.FAILURE;
        }
        try {
            ByteBuffer into = plaintext.asWritable();
            Next next = machine.receive(records, into);
            skipTaken(records, fresh);
            plaintext.advance(into.position());
            if (plaintext.readable() > 0) {
                handOn(plaintext.lendView());
            }
            return next;
        } finally {
            plaintext.release();
        }
    }

    private Ciphertext ciphertext(@Nullable NativeBuffer fresh) {
        return new Ciphertext(readable(held), readable(fresh));
    }

    private static ByteBuffer readable(@Nullable NativeBuffer bytes) {
        return bytes == null ? NOTHING : bytes.asReadable();
    }

    private void skipTaken(Ciphertext records, @Nullable NativeBuffer fresh) {
        skip(held, records.held());
        skip(fresh, records.fresh());
    }

    private static void skip(@Nullable NativeBuffer bytes, ByteBuffer view) {
        if (bytes != null) {
            bytes.skip(view.position());
        }
    }

    private void handOn(NativeBuffer view) {
        try {
            wire.user().onReceived(view);
        } finally {
            view.endBorrowing(OURS);
        }
    }

    /// It is over.
    void release() {
        NativeBuffer kept = held;
        held = null;
        if (kept != null) {
            kept.release();
        }
    }
}
