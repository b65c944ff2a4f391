package dev.gyre.http.internal.websocket;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import java.nio.ByteBuffer;

/// Writes frames to a stream: masked by a client, plain by a server.
///
/// All methods return what [Stream#write(Buffer)] returns.
///
/// Loop thread only.
final class FrameWriter {
    private static final byte[] EMPTY = {};

    /// The maximum payload that is copied behind its header to be written with it.
    private static final int SMALL_BYTES = 4 << 10;

    private final Stream stream;
    final boolean masks;

    // Loop thread only.
    private WebSocketScratch scratch;

    FrameWriter(Stream stream, WebSocketScratch scratch, boolean masks) {
        this.stream = stream;
        this.scratch = scratch;
        this.masks = masks;
    }

    void moveTo(WebSocketScratch scratch) {
        this.scratch = scratch;
    }

    /// Returns whether frames can be written. A terminating loop ends the output of its streams. A
    /// write would throw then, but the user cannot know.
    boolean canWrite() {
        return stream.isOpen() && !stream.loop().state().isShuttingDown();
    }

    /// Writes a complete frame that was encoded before. Unmasked only.
    boolean encoded(byte[] frame) {
        return stream.write(frame);
    }

    /// Writes a text message of a server as one frame, encoded in the loop's memory.
    ///
    /// @param text at most a third of [WebSocketScratch#SCRATCH_BYTES], so that its UTF-8 fits
    boolean text(String text) {
        Buffer out = begin(FrameHeader.TEXT, true, false, text.length());
        int headerBytes = out.readable();
        int length = out.put(text).readable() - headerBytes;
        if (length == text.length()) {
            return stream.write(out);
        }
        // The header has the length of ASCII text. Write the right one instead.
        out.skip(headerBytes);
        byte[] header = scratch.header;
        int size = FrameHeader.put(header, FrameHeader.FIN | FrameHeader.TEXT, 0, length);
        stream.write(ByteBuffer.wrap(header, 0, size));
        return stream.write(out);
    }

    /// Writes a frame and consumes the payload.
    boolean frame(int opcode, boolean last, boolean compressed, ByteBuffer payload) {
        Buffer out = begin(opcode, last, compressed, payload.remaining());
        if (masks) {
            return writeMasked(out, payload);
        }
        if (payload.remaining() <= SMALL_BYTES) {
            return stream.write(out.put(payload));
        }
        stream.write(out);
        return stream.write(payload);
    }

    private Buffer begin(int opcode, boolean last, boolean compressed, int length) {
        int first = (last ? FrameHeader.FIN : 0) | (compressed ? FrameHeader.RSV1 : 0) | opcode;
        int size = FrameHeader.put(scratch.header, first, masks ? FrameHeader.MASK : 0, length);
        return scratch.frame.clear().put(scratch.header, 0, size);
    }

    /// Masks the payload on its way, because it belongs to the caller.
    private boolean writeMasked(Buffer out, ByteBuffer payload) {
        int key = scratch.newKey();
        out.putInt(key);
        int start = payload.position();
        while (true) {
            int count = Math.min(payload.remaining(), out.writable());
            Masking.copy(payload, out.asWritable(), count, key, payload.position() - start);
            boolean writable = stream.write(out.advance(count));
            if (!payload.hasRemaining()) {
                return writable;
            }
            out.clear();
        }
    }

    /// @param payload at most 125 bytes
    boolean control(int opcode, byte[] payload, int length) {
        return frame(opcode, true, false, ByteBuffer.wrap(payload, 0, length));
    }

    /// @param code [CloseHandshake#NO_CODE] for a frame without a code
    /// @param reason at most 123 bytes
    boolean close(int code, byte[] reason) {
        if (code == CloseHandshake.NO_CODE) {
            return control(FrameHeader.CLOSE, EMPTY, 0);
        }
        ByteBuffer payload = ByteBuffer.allocate(2 + reason.length).putShort((short) code);
        return frame(FrameHeader.CLOSE, true, false, payload.put(reason).flip());
    }
}
