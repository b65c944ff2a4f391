package dev.gyre.cli;

import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

/// One connection of a crowd, on which one message at a time is under way.
///
/// Loop thread only.
abstract sealed class Member implements Protocol permits EchoMember, HttpMember {
    private final Crowd crowd;
    private @Nullable Stream stream;

    /// Whom to tell of what comes back; null while nothing is under way.
    private @Nullable Load load;

    private long dueNanos;

    Member(Crowd crowd) {
        this.crowd = crowd;
    }

    Crowd crowd() {
        return crowd;
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
        writeTo(to);
        return true;
    }

    abstract void writeTo(Stream to);

    /// How long what comes back is, as far as it can be told; more than there is if not all of it has come.
    abstract int answerBytes(Buffer data);

    /// Takes what came back.
    ///
    /// @return whether it is all that was to come, and as it was to be
    abstract boolean isRight(Buffer data);

    @Override
    public void onData(Stream stream, Buffer data) {
        Load waiting = load;
        if (waiting == null) {
            stream.abort(); // Nobody has asked.
        } else if (data.readable() >= answerBytes(data)) {
            load = null;
            boolean right = isRight(data);
            data.skip(data.readable());
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
