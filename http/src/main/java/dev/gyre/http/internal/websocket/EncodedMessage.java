package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocketMessage;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// A message as a server's frame, which has no mask and is therefore the same for every socket.
public final class EncodedMessage implements WebSocketMessage {
    private static final byte[] NOT_SMALLER = {};

    private final boolean text;
    private final byte[] frame;
    private final int headerBytes;

    // Shared: written by the loops that want it first, each the same; published by being volatile.
    private volatile byte @Nullable [] packed;

    private EncodedMessage(boolean text, byte[] content) {
        this.text = text;
        byte[] header = FrameWriter.header(opcode(), false, content.length);
        headerBytes = header.length;
        frame = Arrays.copyOf(header, header.length + content.length);
        System.arraycopy(content, 0, frame, headerBytes, content.length);
    }

    /// A message of text.
    ///
    /// @see WebSocketMessage#text(String)
    public static EncodedMessage of(String text) {
        return new EncodedMessage(true, text.getBytes(UTF_8));
    }

    /// A binary message.
    ///
    /// @see WebSocketMessage#binary(byte[])
    public static EncodedMessage of(byte[] content) {
        return new EncodedMessage(false, content);
    }

    @Override
    public boolean isText() {
        return text;
    }

    @Override
    public int length() {
        return frame.length - headerBytes;
    }

    int opcode() {
        return text ? FrameHeader.TEXT : FrameHeader.BINARY;
    }

    /// The whole frame. Nobody may change it.
    byte[] frame() {
        return frame;
    }

    /// Where the content begins in [#frame()].
    int headerBytes() {
        return headerBytes;
    }

    /// The frame of the compressed message; that of the plain one if compression gains nothing. Nobody may change it.
    byte[] packedFrame(Workbench bench) {
        byte[] known = packed;
        if (known == null) {
            known = pack(bench);
            packed = known;
        }
        return known.length == 0 ? frame : known;
    }

    private byte[] pack(Workbench bench) {
        int length = length();
        if (length < Deflation.LEAST_BYTES) {
            return NOT_SMALLER;
        }
        int room = length + Deflation.TAIL_BYTES;
        byte[] content = room <= bench.second.length ? bench.second : bench.takeArray(room);
        try {
            int packedLength = Deflation.pack(bench, frame, headerBytes, length, content);
            if (packedLength < 0) {
                return NOT_SMALLER;
            }
            byte[] header = FrameWriter.header(opcode(), true, packedLength);
            byte[] whole = Arrays.copyOf(header, header.length + packedLength);
            System.arraycopy(content, 0, whole, header.length, packedLength);
            return whole;
        } finally {
            bench.arrays.give(content);
        }
    }
}
