package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocketMessage;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Arrays;

/// A message encoded as a server's frame. Such a frame has no mask, so all sockets share it.
public final class EncodedMessage implements WebSocketMessage {
    private static final byte[] NOT_SMALLER = {};

    private final boolean text;
    private final byte[] frame;
    private final int length;

    // Shared: written by the first loops that need it, with equal content; published as volatile.
    private volatile byte @Nullable [] compressed;

    private EncodedMessage(boolean text, byte[] payload) {
        this.text = text;
        length = payload.length;
        frame = frame(0, payload, length);
    }

    /// Encodes a text message.
    ///
    /// @see WebSocketMessage#text(String)
    public static EncodedMessage of(String text) {
        return new EncodedMessage(true, text.getBytes(UTF_8));
    }

    /// Encodes a binary message.
    ///
    /// @see WebSocketMessage#binary(byte[])
    public static EncodedMessage of(byte[] payload) {
        return new EncodedMessage(false, payload);
    }

    private byte[] frame(int flags, byte[] payload, int length) {
        int first = FrameHeader.FIN | flags | (text ? FrameHeader.TEXT : FrameHeader.BINARY);
        byte[] header = new byte[FrameHeader.MAX_BYTES];
        int size = FrameHeader.put(header, first, 0, length);
        byte[] made = Arrays.copyOf(header, Math.addExact(size, length));
        System.arraycopy(payload, 0, made, size, length);
        return made;
    }

    @Override
    public boolean isText() {
        return text;
    }

    @Override
    public int length() {
        return length;
    }

    /// Returns the plain frame. The array must not be changed.
    byte[] frame() {
        return frame;
    }

    /// Returns the frame of the compressed message, or the plain frame if compression saves
    /// nothing. The array must not be changed.
    byte[] compressedFrame(WebSocketScratch scratch) {
        byte[] known = compressed;
        if (known == null) {
            known = compress(scratch);
            compressed = known;
        }
        return known.length == 0 ? frame : known;
    }

    private byte[] compress(WebSocketScratch scratch) {
        if (length < WebSocketScratch.MIN_COMPRESSED_BYTES) {
            return NOT_SMALLER;
        }
        byte[] room = scratch.roomToDeflate(length);
        try {
            ByteBuffer payload = ByteBuffer.wrap(frame, frame.length - length, length);
            int size = scratch.deflate(payload, room);
            return size < 0 ? NOT_SMALLER : frame(FrameHeader.RSV1, room, size);
        } finally {
            scratch.arrays.release(room);
        }
    }
}
