package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// The header of the frame that is being read: RFC 6455, section 5.2, and nothing more lenient.
///
/// ```
///     FIN RSV1 RSV2 RSV3 opcode │ MASK length │ length of 2 or 8 bytes, if 126 or 127 │ key of 4 bytes, if MASK
/// ```
///
/// [#read] is a function of the bytes that are there and takes none of them, so that all ways of splitting a header
/// end in the same call. What the first two bytes show to be wrong is refused without waiting for more.
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

    /// The most that a control frame carries.
    static final int MOST_OF_CONTROL = 125;

    static final int LENGTH_IN_TWO = 126;
    static final int LENGTH_IN_EIGHT = 127;
    static final int MOST_IN_TWO = 0xffff;

    private static final int RSV2_AND_3 = 0x30;
    private static final int OPCODE = 0x0f;
    private static final int CONTROL = 0x08;
    private static final int LENGTH = 0x7f;
    private static final int KEY_BYTES = 4;

    private final boolean masked;
    private final boolean compressed;

    // Loop thread only.
    private boolean last;
    private boolean packed;
    private int opcode;
    private long length;
    private int key;
    private int size;
    private @Nullable Violation violation;

    /// @param masked whether frames must have a mask, or must not
    /// @param compressed whether messages may be compressed
    FrameHeader(boolean masked, boolean compressed) {
        this.masked = masked;
        this.compressed = compressed;
    }

    /// Looks at a header, and takes nothing.
    ///
    /// @return whether all of it is there, or enough to see that it is wrong: [#violation()]
    boolean read(Buffer data) {
        int there = data.readable();
        if (there < 2) {
            return false;
        }
        int first = data.peek(0);
        int second = data.peek(1);
        last = (first & FIN) != 0;
        packed = (first & RSV1) != 0;
        opcode = first & OPCODE;
        int code = second & LENGTH;
        violation = wrongIn(first, second, code);
        if (violation != null) {
            return true;
        }
        int lengthBytes = code == LENGTH_IN_TWO ? 2 : code == LENGTH_IN_EIGHT ? 8 : 0;
        size = 2 + lengthBytes + (masked ? KEY_BYTES : 0);
        if (there < size) {
            return false;
        }
        length = lengthBytes == 0 ? code : number(data, 2, lengthBytes);
        key = masked ? (int) number(data, 2 + lengthBytes, KEY_BYTES) : 0;
        violation = wrongLength(lengthBytes);
        return true;
    }

    private @Nullable Violation wrongIn(int first, int second, int code) {
        if ((first & RSV2_AND_3) != 0) {
            return Violation.RESERVED_BITS;
        }
        if (opcode > PONG || (opcode > BINARY && opcode < CLOSE)) {
            return Violation.UNKNOWN_OPCODE;
        }
        // The bit of compression stands on a message's first frame, and nowhere else.
        if (packed && (!compressed || isControl() || opcode == CONTINUATION)) {
            return Violation.RESERVED_BITS;
        }
        if (masked != ((second & MASK) != 0)) {
            return masked ? Violation.NOT_MASKED : Violation.MASKED;
        }
        if (!isControl()) {
            return null;
        }
        if (!last) {
            return Violation.CONTROL_FRAGMENTED;
        }
        return code > MOST_OF_CONTROL ? Violation.CONTROL_TOO_LONG : null;
    }

    private @Nullable Violation wrongLength(int lengthBytes) {
        if (length < 0) {
            return Violation.LENGTH_NEGATIVE;
        }
        boolean shorter =
                (lengthBytes == 2 && length < LENGTH_IN_TWO)
                        || (lengthBytes == 8 && length <= MOST_IN_TWO);
        return shorter ? Violation.LENGTH_NOT_SHORTEST : null;
    }

    private static long number(Buffer data, int offset, int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | (data.peek(offset + i) & 0xff);
        }
        return value;
    }

    /// What is wrong with it; null for nothing.
    @Nullable Violation violation() {
        return violation;
    }

    boolean isControl() {
        return (opcode & CONTROL) != 0;
    }

    /// Whether it is the last frame of its message.
    boolean isLast() {
        return last;
    }

    /// Whether the message that it begins is compressed.
    boolean isPacked() {
        return packed;
    }

    int opcode() {
        return opcode;
    }

    /// How many bytes follow the header.
    long length() {
        return length;
    }

    /// What these are masked with, the first byte highest; 0 for not at all.
    int key() {
        return key;
    }

    /// How many bytes the header has itself.
    int size() {
        return size;
    }
}
