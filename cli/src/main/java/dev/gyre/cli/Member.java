package dev.gyre.cli;

import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// One connection of a crowd. A message begins with who sends it and which of its messages it is, so that one that
/// comes back to somebody else, or twice, is noticed.
///
/// Loop thread only.
final class Member implements Protocol {
    static final int MESSAGE_BYTES = 64;

    private static final byte[] FILLING = new byte[MESSAGE_BYTES - Long.BYTES];

    private final int index;
    private final Crowd crowd;
    private @Nullable Stream stream;

    /// Whom to tell of what comes back; null while nothing is under way.
    private @Nullable Load load;

    private int messages;
    private long dueNanos;

    Member(int index, Crowd crowd) {
        this.index = index;
        this.crowd = crowd;
    }

    void take(Stream stream) {
        this.stream = stream;
        stream.protocol(this);
    }

    /// Sends the next message, unless the one before it is not back yet.
    ///
    /// @param dueNanos when it is to be sent, which has passed
    /// @return whether it was sent
    boolean send(Load load, long dueNanos) {
        Stream to = stream;
        if (this.load != null || to == null || !to.isOpen()) {
            return false;
        }
        this.load = load;
        this.dueNanos = dueNanos;
        messages++;
        boolean _ = to.write(crowd.message().putLong(mark()).put(FILLING));
        return true;
    }

    private long mark() {
        return (long) index << 32 | messages;
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        if (data.readable() < MESSAGE_BYTES) {
            return; // The rest follows.
        }
        Load waiting = load;
        load = null;
        boolean right = data.getLong() == mark() && data.readable() == FILLING.length;
        data.skip(data.readable());
        if (waiting != null) {
            waiting.cameBack(dueNanos, right);
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        this.stream = null;
        crowd.lost(reason);
    }

    void leave() {
        if (stream != null) {
            stream.abort();
        }
    }
}
