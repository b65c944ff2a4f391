package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// Writes frames to a stream: a server's as they are, a client's masked, long ones compressed if that was agreed on.
/// Every message is one frame.
///
/// All methods return what [Stream#write(Buffer)] says.
///
/// Loop thread only.
final class FrameWriter {
    private static final byte[] NOTHING = {};

    private final Stream stream;
    private final Workbench bench;
    private final boolean masks;
    private final boolean compresses;

    FrameWriter(Stream stream, Workbench bench, boolean masks, boolean compresses) {
        this.stream = stream;
        this.bench = bench;
        this.masks = masks;
        this.compresses = compresses;
    }

    /// Whether anything may be written. A loop that is about to end ends its streams' output, and they say of a write
    /// then that it is a mistake; here it is none, as nobody could know.
    boolean mayWrite() {
        return stream.isOpen() && !stream.loop().state().isShuttingDown();
    }

    // ------------------------------------------------------------------ messages

    boolean text(String text) {
        int chars = text.length();
        // Three bytes a character are the most that UTF-8 needs.
        if (masks
                || (compresses && chars >= Deflation.LEAST_BYTES)
                || chars > Workbench.SCRATCH_BYTES / 3) {
            try {
                int length = bench.encoding.encode(text);
                return message(FrameHeader.TEXT, bench.encoding.bytes(), 0, length);
            } finally {
                bench.encoding.release();
            }
        }
        Buffer frame = bench.frame.clear();
        putHeader(frame, FrameHeader.TEXT, false, chars);
        int headerBytes = frame.readable();
        int length = frame.put(text).readable() - headerBytes;
        if (length == chars) {
            return stream.write(frame);
        }
        // The length was that of ASCII, and it is not: the right header goes in front by itself.
        frame.skip(headerBytes);
        stream.write(header(FrameHeader.TEXT, false, length));
        return stream.write(frame);
    }

    boolean binary(byte[] content) {
        return message(FrameHeader.BINARY, content, 0, content.length);
    }

    boolean binary(Buffer content) {
        int length = content.readable();
        if (masks || (compresses && length >= Deflation.LEAST_BYTES)) {
            byte[] bytes = length <= bench.scratch.length ? bench.scratch : bench.takeArray(length);
            content.get(bytes, 0, length);
            try {
                return message(FrameHeader.BINARY, bytes, 0, length);
            } finally {
                bench.arrays.give(bytes);
            }
        }
        Buffer frame = bench.frame.clear();
        putHeader(frame, FrameHeader.BINARY, false, length);
        stream.write(frame);
        return stream.write(content);
    }

    boolean encoded(EncodedMessage message) {
        if (masks) {
            int from = message.headerBytes();
            return message(message.opcode(), message.frame(), from, message.length());
        }
        return stream.write(frameOf(message));
    }

    /// The frame that others are sent too; null if this side masks, and each is another one.
    byte @Nullable [] sharedFrame(EncodedMessage message) {
        return masks ? null : frameOf(message);
    }

    private byte[] frameOf(EncodedMessage message) {
        return compresses ? message.packedFrame(bench) : message.frame();
    }

    /// A frame as it is.
    boolean whole(byte[] frame) {
        return stream.write(frame);
    }

    private boolean message(int opcode, byte[] content, int from, int length) {
        if (compresses && length >= Deflation.LEAST_BYTES) {
            int needed = length + Deflation.TAIL_BYTES;
            byte[] room = needed <= bench.second.length ? bench.second : bench.takeArray(needed);
            try {
                int packed = Deflation.pack(bench, content, from, length, room);
                if (packed >= 0) {
                    return frame(opcode, true, room, 0, packed);
                }
            } finally {
                bench.arrays.give(room);
            }
        }
        return frame(opcode, false, content, from, length);
    }

    // ------------------------------------------------------------------ control frames

    /// @param content at most 125 bytes
    boolean control(int opcode, byte[] content, int length) {
        return frame(opcode, false, content, 0, length);
    }

    /// @param code [CloseCode#NONE] for a frame without one
    /// @param reason at most 123 bytes
    boolean close(int code, byte[] reason) {
        if (code == CloseCode.NONE) {
            return control(FrameHeader.CLOSE, NOTHING, 0);
        }
        byte[] content = new byte[2 + reason.length];
        content[0] = (byte) (code >> 8);
        content[1] = (byte) code;
        System.arraycopy(reason, 0, content, 2, reason.length);
        return control(FrameHeader.CLOSE, content, content.length);
    }

    // ------------------------------------------------------------------ frames

    private boolean frame(int opcode, boolean packed, byte[] content, int from, int length) {
        if (masks) {
            return maskedFrame(opcode, packed, content, from, length);
        }
        Buffer frame = bench.frame.clear();
        putHeader(frame, opcode, packed, length);
        if (length <= frame.writable()) {
            return stream.write(frame.put(content, from, length));
        }
        stream.write(frame);
        return stream.write(ByteBuffer.wrap(content, from, length));
    }

    /// What was given is nobody's to change: it is masked on the way, piece by piece.
    private boolean maskedFrame(int opcode, boolean packed, byte[] content, int from, int length) {
        int key = bench.newKey();
        Buffer frame = bench.frame.clear();
        putHeader(frame, opcode, packed, length, FrameHeader.MASK);
        frame.putInt(key);
        int done = 0;
        while (true) {
            int piece = Math.min(length - done, bench.second.length);
            System.arraycopy(content, from + done, bench.second, 0, piece);
            Masking.apply(bench.second, 0, piece, key, done);
            boolean more = stream.write(frame.put(bench.second, 0, piece));
            done += piece;
            if (done == length) {
                return more;
            }
            frame.clear();
        }
    }

    private static void putHeader(Buffer to, int opcode, boolean packed, int length) {
        putHeader(to, opcode, packed, length, 0);
    }

    private static void putHeader(Buffer to, int opcode, boolean packed, int length, int mask) {
        to.put((byte) (FrameHeader.FIN | (packed ? FrameHeader.RSV1 : 0) | opcode));
        if (length < FrameHeader.LENGTH_IN_TWO) {
            to.put((byte) (mask | length));
        } else if (length <= FrameHeader.MOST_IN_TWO) {
            to.put((byte) (mask | FrameHeader.LENGTH_IN_TWO)).putShort((short) length);
        } else {
            to.put((byte) (mask | FrameHeader.LENGTH_IN_EIGHT)).putLong(length);
        }
    }

    /// The header of a frame without a mask.
    static byte[] header(int opcode, boolean packed, int length) {
        int size =
                length < FrameHeader.LENGTH_IN_TWO ? 2 : length <= FrameHeader.MOST_IN_TWO ? 4 : 10;
        byte[] header = new byte[size];
        header[0] = (byte) (FrameHeader.FIN | (packed ? FrameHeader.RSV1 : 0) | opcode);
        header[1] =
                (byte)
                        (size == 2
                                ? length
                                : size == 4
                                        ? FrameHeader.LENGTH_IN_TWO
                                        : FrameHeader.LENGTH_IN_EIGHT);
        for (int at = size - 1, rest = length; at > 1; at--, rest >>>= 8) {
            header[at] = (byte) rest;
        }
        return header;
    }
}
