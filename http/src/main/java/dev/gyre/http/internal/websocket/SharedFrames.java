package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// What rooms have for a socket whose peer does not keep up: the frames themselves, which it shares with all others
/// that wait for them. A stream copies what it is given, so it is given no more than there is room for.
///
/// Loop thread only.
final class SharedFrames {
    // Loop thread only.
    /// Made when first wanted: most sockets keep up, or are in no room.
    private @Nullable ArrayDeque<byte[]> waiting;

    private long bytes;

    /// How many bytes wait.
    long bytes() {
        return bytes;
    }

    void add(byte[] frame) {
        ArrayDeque<byte[]> known = waiting;
        if (known == null) {
            known = new ArrayDeque<>();
            waiting = known;
        }
        known.add(frame);
        bytes += frame.length;
    }

    /// Writes them, as long as there is room or one has to go out in front of something else.
    ///
    /// @return whether there is room still
    boolean writeTo(FrameWriter frames, boolean all) {
        boolean more = true;
        ArrayDeque<byte[]> known = waiting;
        while (known != null && !known.isEmpty() && (more || all)) {
            byte[] next = known.remove();
            bytes -= next.length;
            more = frames.whole(next);
        }
        return more;
    }

    void clear() {
        waiting = null;
        bytes = 0;
    }
}
