package dev.gyre.internal.tls;

import java.nio.ByteBuffer;

/// Received bytes that are not consumed, in two buffers: held input, then new input. A record that
/// spans both can be inspected without joining them.
///
/// Consuming advances the positions of the buffers.
///
/// @param held precedes `fresh`; either may be empty
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

    /// Whether the header of a record is complete. The accessors below require it.
    boolean hasHeader() {
        return remaining() >= HEADER_BYTES;
    }

    int type() {
        return get(0);
    }

    int majorVersion() {
        return get(VERSION_AT);
    }

    /// Whether it starts with a ClientHello in SSLv2 format: two bytes of length, then the type.
    boolean isSsl2Hello() {
        return (get(0) & 0x80) != 0 && get(2) == 1;
    }

    /// The length of the first record, including its header.
    int recordLength() {
        return HEADER_BYTES + ((get(LENGTH_AT) & 0xff) << 8 | (get(LENGTH_AT + 1) & 0xff));
    }

    /// How many bytes are missing before the first record can be processed; zero if none.
    public int missing() {
        if (!hasHeader()) {
            return HEADER_BYTES - remaining();
        }
        int length = recordLength();
        return length > TlsEngine.MAX_RECORD_BYTES ? 0 : Math.max(0, length - remaining());
    }

    /// Copies the first bytes without consuming them.
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

    /// Returns a copy of the first bytes, at most `most`.
    ByteBuffer peek(int most) {
        int bytes = Math.min(most, remaining());
        ByteBuffer shown = ByteBuffer.allocate(bytes);
        copyTo(shown, bytes);
        return shown.flip();
    }
}
