package dev.gyre.internal.net;

import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.Ciphertext;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// Decrypts the input of a [TlsTransport]. Records are decrypted from the receive buffer. Only
/// incomplete records, and input that may not be decrypted yet, are copied and held.
///
/// Loop thread only.
final class TlsInput {
    /// Room for three decrypted records.
    private static final int PLAINTEXT_BYTES = 1 << 16;

    /// The initial size of the buffer for an incomplete record. A full buffer grows.
    private static final int MIN_HELD_BYTES = 4 << 10;

    /// The limit of buffered ciphertext. Reading from the transport pauses above it.
    private static final int MAX_HELD_BYTES = 1 << 16;

    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final TlsTransport transport;
    private final TlsEngine engine;
    private @Nullable NativeBuffer held;
    private boolean ended;
    private boolean decrypting;

    TlsInput(TlsTransport transport) {
        this.transport = transport;
        engine = transport.engine;
    }

    boolean hasPending() {
        return held != null || ended;
    }

    boolean hasRoom() {
        return !ended && (held == null || held.readable() <= MAX_HELD_BYTES);
    }

    /// Inserts input that was received before TLS started.
    void prepend(NativeBuffer first) {
        NativeBuffer later = held;
        held = first;
        if (later != null) {
            hold(later, later.readable());
            later.release();
        }
    }

    void receive(NativeBuffer data) {
        decrypt(data);
        dropIfEmpty();
        hold(data, data.readable());
    }

    /// The transport below has reached the peer's end.
    void ended() {
        ended = true;
        resume();
    }

    void resume() {
        if (decrypting || !transport.mayReceive()) {
            return;
        }
        boolean wantsMore = held == null || decrypt(null);
        dropIfEmpty();
        if (wantsMore && ended && !transport.isDone()) {
            Next next = engine.inputClosed();
            if (next == Next.FAILURE) {
                transport.fail(CloseReason.TLS_TRUNCATED, engine.failure());
            } else {
                transport.react(next);
            }
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
        if (bytes == 0 || transport.isDone()) {
            return;
        }
        NativeBuffer room = roomFor(data, bytes);
        if (room == null) {
            transport.failForMemory();
            return;
        }
        held = room;
        room.transferFrom(data, bytes);
    }

    /// Returns the held buffer with room for this many more bytes; null if memory is exhausted.
    private @Nullable NativeBuffer roomFor(NativeBuffer data, int bytes) {
        NativeBuffer kept = held;
        if (kept == null) {
            int record = bytes + Ciphertext.of(data.asReadable()).missing();
            return transport
                    .operations
                    .pool()
                    .acquire(bytes < MIN_HELD_BYTES ? MIN_HELD_BYTES : Math.max(record, bytes));
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
                transport.operations.pool().acquire(Math.max(all, TlsEngine.MAX_RECORD_BYTES));
        if (larger != null) {
            larger.transferFrom(kept, kept.readable());
            kept.release();
        }
        return larger;
    }

    /// Decrypts and delivers the available records.
    ///
    /// @param fresh new input that follows the held input
    /// @return whether more input is needed; false if another condition blocks
    private boolean decrypt(@Nullable NativeBuffer fresh) {
        decrypting = true;
        try {
            while (transport.mayReceive()) {
                Next next = engine.session() == null ? handshake(fresh) : records(fresh);
                if (next == Next.ROOM) {
                    continue;
                }
                if (!transport.isDone()) {
                    transport.react(next);
                }
                if (next != Next.OUTPUT || !transport.output.pump()) {
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
        Next next = engine.receive(records, EMPTY);
        skipConsumed(records, fresh);
        if (next == Next.ROOM) {
            transport.react(next); // The handshake is complete; this record follows it.
        }
        return next;
    }

    private Next records(@Nullable NativeBuffer fresh) {
        Ciphertext records = ciphertext(fresh);
        if (records.missing() > 0 && !engine.inputEnded()) {
            return Next.INPUT; // Avoids acquiring a buffer.
        }
        NativeBuffer plaintext = transport.operations.pool().acquire(PLAINTEXT_BYTES);
        if (plaintext == null) {
            transport.failForMemory();
            return Next.FAILURE;
        }
        try {
            ByteBuffer into = plaintext.asWritable();
            Next next = engine.receive(records, into);
            skipConsumed(records, fresh);
            plaintext.advance(into.position());
            if (plaintext.readable() > 0) {
                deliver(plaintext.lendView());
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
        return bytes == null ? EMPTY : bytes.asReadable();
    }

    private void skipConsumed(Ciphertext records, @Nullable NativeBuffer fresh) {
        skip(held, records.held());
        skip(fresh, records.fresh());
    }

    private static void skip(@Nullable NativeBuffer bytes, ByteBuffer view) {
        if (bytes != null) {
            bytes.skip(view.position());
        }
    }

    private void deliver(NativeBuffer view) {
        try {
            transport.handler().onReceived(view);
        } finally {
            view.endBorrowing(InputBuffer.OWNER);
        }
    }

    /// Copies the held input out of the loop's pool before a move.
    void detachMemory() {
        NativeBuffer kept = held;
        if (kept != null) {
            held = StreamMove.copyOf(kept);
            kept.release();
        }
    }

    /// Copies the held input into the pool of another loop after a move.
    void attachMemory() {
        NativeBuffer copy = held;
        held = null;
        if (copy != null) {
            hold(copy, copy.readable());
        }
    }

    void release() {
        NativeBuffer kept = held;
        held = null;
        if (kept != null) {
            kept.release();
        }
    }
}
