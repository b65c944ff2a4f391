package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// Parses the header of a frame strictly by RFC 6455, section 5.2.
///
/// ```
///  FIN RSV1 RSV2 RSV3 opcode │ MASK length │ length in 2 or 8 bytes, if 126 or 127 │ key, if MASK
/// ```
///
/// [#read] depends only on the available bytes and consumes none, so the result is the same for
/// every way of splitting a header. An error in the first two bytes is reported without waiting for
/// more.
///
/// Loop thread only.
final class FrameHeader {
    static final int CONTINUATION = 0;
    static final int TEXT = 1;
    static final int BINARY = 2;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;

    static final int FIN = 0x80;
    static final int RSV1 = 0x40;
    static final int MASK = 0x80;
    static final int OPCODE = 0x0f;

    /// The maximum payload of a control frame.
    static final int MAX_CONTROL_BYTES = 125;

    /// The maximum size of a header: with an extended length and a key.
    static final int MAX_BYTES = 14;

    private static final int LENGTH = 0x7f;
    private static final int TWO_BYTE_LENGTH = 126;
    private static final int EIGHT_BYTE_LENGTH = 127;
    private static final int MAX_TWO_BYTE_LENGTH = 0xffff;
    private static final int RSV2_AND_3 = 0x30;
    private static final int CONTROL = 0x08;
    private static final int KEY_BYTES = 4;

    private final boolean masked;
    private final boolean compression;

    // Loop thread only: the header read last.
    int opcode;

    /// Whether the frame is the last of its message.
    boolean last;

    /// Whether the message that begins with this frame is compressed.
    boolean compressed;

    /// The length of the payload.
    long length;

    /// The masking key, its first byte highest; 0 if the frame is not masked.
    int key;

    /// The size of the header itself.
    int size;

    /// Null if the header is valid.
    @Nullable ProtocolError error;

    /// @param masked whether frames must be masked; if false, they must not be
    /// @param compression whether messages may be compressed
    FrameHeader(boolean masked, boolean compression) {
        this.masked = masked;
        this.compression = compression;
    }

    /// Reads a header and consumes nothing.
    ///
    /// @return false if it is incomplete, and valid so far
    boolean read(Buffer data) {
        int available = data.readable();
        if (available < 2) {
            return false;
        }
        int first = data.peek(0);
        int second = data.peek(1);
        last = (first & FIN) != 0;
        compressed = (first & RSV1) != 0;
        opcode = first & OPCODE;
        int code = second & LENGTH;
        error = errorIn(first, second, code);
        if (error != null) {
            return true;
        }
        int lengthBytes = code == TWO_BYTE_LENGTH ? 2 : code == EIGHT_BYTE_LENGTH ? 8 : 0;
        size = 2 + lengthBytes + (masked ? KEY_BYTES : 0);
        if (available < size) {
            return false;
        }
        length = lengthBytes == 0 ? code : number(data, 2, lengthBytes);
        key = masked ? (int) number(data, 2 + lengthBytes, KEY_BYTES) : 0;
        if (length < 0) {
            error = ProtocolError.LENGTH_NEGATIVE;
        } else if ((lengthBytes == 2 && length < TWO_BYTE_LENGTH)
                || (lengthBytes == 8 && length <= MAX_TWO_BYTE_LENGTH)) {
            error = ProtocolError.LENGTH_NOT_MINIMAL;
        }
        return true;
    }

    private @Nullable ProtocolError errorIn(int first, int second, int code) {
        if ((first & RSV2_AND_3) != 0) {
            return ProtocolError.RESERVED_BITS;
        }
        if (opcode > PONG || (opcode > BINARY && opcode < CLOSE)) {
            return ProtocolError.UNKNOWN_OPCODE;
        }
        // Only the first frame of a message may have the bit of compression.
        if (compressed && (!compression || isControl() || opcode == CONTINUATION)) {
            return ProtocolError.RESERVED_BITS;
        }
        if (masked != ((second & MASK) != 0)) {
            return masked ? ProtocolError.NOT_MASKED : ProtocolError.MASKED;
        }
        if (isControl() && !last) {
            return ProtocolError.CONTROL_FRAGMENTED;
        }
        return isControl() && code > MAX_CONTROL_BYTES ? ProtocolError.CONTROL_TOO_LONG : null;
    }

    private static long number(Buffer data, int offset, int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | (data.peek(offset + i) & 0xff);
        }
        return value;
    }

    boolean isControl() {
        return (opcode & CONTROL) != 0;
    }

    /// Puts a header without a key into an array.
    ///
    /// @param first the first byte: FIN, RSV1 and the opcode
    /// @param mask [#MASK] or 0
    /// @return its size
    static int put(byte[] to, int first, int mask, int length) {
        int size = length < TWO_BYTE_LENGTH ? 2 : length <= MAX_TWO_BYTE_LENGTH ? 4 : 10;
        int code = size == 2 ? length : size == 4 ? TWO_BYTE_LENGTH : EIGHT_BYTE_LENGTH;
        to[0] = (byte) first;
        to[1] = (byte) (mask | code);
        for (int at = size - 1, rest = length; at > 1; at--, rest >>>= 8) {
            to[at] = (byte) rest;
        }
        return size;
    }

    /// Returns the size of the header of a frame without a key.
    static int sizeOf(byte[] frame) {
        int code = frame[1] & LENGTH;
        return code == TWO_BYTE_LENGTH ? 4 : code == EIGHT_BYTE_LENGTH ? 10 : 2;
    }
}
