package dev.gyre.internal.tls;

import java.nio.ByteBuffer;

/// What has arrived and was not taken yet, in two pieces that follow each other: what had to wait, and what came just
/// now. So a record that is cut by the end of a buffer need not be put together before it can be looked at.
///
/// The buffers' positions are moved past what is taken.
///
/// @param held comes first; either may be empty
public record Ciphertext(ByteBuffer held, ByteBuffer fresh) {
    private static final int HEADER_BYTES = 5;
    private static final int VERSION_AT = 1;
    private static final int LENGTH_AT = 3;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    public static Ciphertext of(ByteBuffer fresh) {
        return new Ciphertext(NOTHING, fresh);
    }

    int remaining() {
        return held.remaining() + fresh.remaining();
    }

    private byte get(int at) {
        int fromHeld = held.remaining();
        return at < fromHeld
                ? held.get(held.position() + at)
                : fresh.get(fresh.position() + at - fromHeld);
    }

    /// Whether the header of a record is there, so that the methods below may be asked.
    boolean hasHeader() {
        return remaining() >= HEADER_BYTES;
    }

    int type() {
        return get(0);
    }

    int majorVersion() {
        return get(VERSION_AT);
    }

    /// Whether it begins as a client's hello in SSLv2 format: two bytes of length, then the message's type.
    boolean isSsl2Hello() {
        return (get(0) & 0x80) != 0 && get(2) == 1;
    }

    /// The length of the first record, with its header.
    int recordLength() {
        return HEADER_BYTES + ((get(LENGTH_AT) & 0xff) << 8 | (get(LENGTH_AT + 1) & 0xff));
    }

    /// How many bytes have to arrive before something can be done with the first record: zero if it can be done now.
    public int missing() {
        if (!hasHeader()) {
            return HEADER_BYTES - remaining();
        }
        int length = recordLength();
        return length > TlsEngine.MAX_RECORD_BYTES ? 0 : Math.max(0, length - remaining());
    }

    /// Copies the first bytes, and takes nothing.
    void copyTo(ByteBuffer into, int bytes) {
        int fromHeld = Math.min(bytes, held.remaining());
        int at = into.position();
        into.put(at, held, held.position(), fromHeld);
        into.put(at + fromHeld, fresh, fresh.position(), bytes - fromHeld);
        into.position(at + bytes);
    }

    void consume(int bytes) {
        int fromHeld = Math.min(bytes, held.remaining());
        held.position(held.position() + fromHeld);
        fresh.position(fresh.position() + bytes - fromHeld);
    }

    /// A copy of the beginning.
    ByteBuffer peek(int most) {
        int bytes = Math.min(most, remaining());
        ByteBuffer shown = ByteBuffer.allocate(bytes);
        copyTo(shown, bytes);
        return shown.flip();
    }
}
