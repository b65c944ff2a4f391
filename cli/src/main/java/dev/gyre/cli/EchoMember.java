package dev.gyre.cli;

import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

/// Sends messages to have them back. Each begins with who sends it and which of its messages it is, so that one that
/// comes back to somebody else, or twice, is noticed.
///
/// Loop thread only.
final class EchoMember extends Member {
    static final int MESSAGE_BYTES = 64;

    private static final byte[] FILLING = new byte[MESSAGE_BYTES - Long.BYTES];

    private final int index;
    private int messages;

    EchoMember(int index, Crowd crowd) {
        super(crowd);
        this.index = index;
    }

    @Override
    void writeTo(Stream to) {
        messages++;
        boolean _ = to.write(crowd().message().putLong(mark()).put(FILLING));
    }

    private long mark() {
        return (long) index << 32 | messages;
    }

    @Override
    int answerBytes(Buffer data) {
        return MESSAGE_BYTES;
    }

    @Override
    boolean isRight(Buffer data) {
        return data.getLong() == mark() && data.readable() == FILLING.length;
    }
}
