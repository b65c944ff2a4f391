package dev.gyre.http.internal.websocket;

import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// An incomplete message: it arrives in several frames, or its frame has not arrived completely. A
/// compressed message stays compressed until it is complete.
///
/// Loop thread only.
final class MessageAssembly {
    final boolean text;
    final boolean compressed;

    // Loop thread only.
    final ByteAccumulator bytes;
    private final Utf8Validator validator = new Utf8Validator();

    /// @param maxBytes the maximum length before decompression
    MessageAssembly(WebSocketScratch scratch, boolean text, boolean compressed, int maxBytes) {
        this.text = text;
        this.compressed = compressed;
        bytes = new ByteAccumulator(scratch.heap, scratch.arrays, -1, maxBytes);
    }

    /// Appends a part of a frame's payload and unmasks it.
    ///
    /// @param offset of the part within the payload of its frame
    /// @return the error in it; null if absent
    @Nullable ProtocolError append(Buffer data, int count, int key, long offset) {
        int from = bytes.size();
        if (!bytes.append(data, count)) {
            return ProtocolError.NO_MEMORY;
        }
        Masking.apply(bytes.array(), from, count, key, offset);
        boolean valid = !text || compressed || validator.accept(bytes.array(), from, count);
        return valid ? null : ProtocolError.NOT_UTF8;
    }

    /// Returns whether the text ends with a complete character.
    boolean isComplete() {
        return !text || compressed || validator.isComplete();
    }
}
