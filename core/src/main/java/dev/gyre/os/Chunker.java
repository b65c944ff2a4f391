package dev.gyre.os;

import java.nio.ByteBuffer;

/// What a user is told of the bytes, piece by piece: between two pieces the user may pause the
/// input, close it, or throw.
///
/// Loop thread only.
interface Chunker {
    /// Takes what was read. Only when the last chunk is used up; it is ours until then.
    void add(ByteBuffer chunk);

    /// There is no more to read.
    void end();

    /// Whether there is a piece to hand over.
    boolean hasNext();

    /// Hands one over. It is gone, also when the user throws.
    void handOverNext();

    /// Whether a piece is longer than can be kept; there is none to hand over then.
    boolean isOverlong();
}
