package dev.gyre.http.internal.client;

import dev.gyre.http.HttpAnswer;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/// A connection, which carries one call after the other and is read also between them: so its end is noticed, and
/// nothing that nobody asked for is taken for the next answer.
///
/// Loop thread only.
final class ClientConnection implements Protocol {
    /// How much content is written at a time, so that what waits to be sent stays below the stream's limit.
    private static final int PIECE_BYTES = 64 << 10;

    private final Pool pool;
    private final Stream stream;
    private final AnswerReader reader;

    private @Nullable ClientCall call;
    private @Nullable ByteBuffer unsent;
    private boolean wasKept;
    private boolean answered;

    ClientConnection(Pool pool, Stream stream, AnswerReader reader) {
        this.pool = pool;
        this.stream = stream;
        this.reader = reader;
    }

    boolean isOpen() {
        return stream.isOpen();
    }

    /// Sends a request, and waits for its answer.
    void carry(ClientCall asked) {
        assert call == null : "one call at a time";
        call = asked;
        answered = false;
        reader.begin(asked);
        asked.carriedBy(this);
        stream.idleTimeout(pool.config().streams().idleTimeout());
        stream.write(asked.head());
        byte[] content = asked.content();
        unsent = content.length == 0 ? null : ByteBuffer.wrap(content);
        sendOn();
    }

    private void sendOn() {
        ByteBuffer rest = unsent;
        boolean room = true;
        while (rest != null && room && stream.isOpen()) {
            int end = rest.limit();
            rest.limit(Math.min(end, rest.position() + PIECE_BYTES));
            room = stream.write(rest);
            rest.limit(end);
            if (!rest.hasRemaining()) {
                rest = null;
                unsent = null;
            }
        }
    }

    @Override
    public void onWritable(Stream stream) {
        sendOn();
    }

    /// Nobody waits any more for what it carries.
    void abandon() {
        call = null;
        drop();
    }

    /// Is of no use any more.
    void drop() {
        pool.gone(this);
        stream.abort();
    }

    // ------------------------------------------------------------------ answers

    @Override
    public void onData(Stream stream, Buffer data) {
        ClientCall asked = call;
        if (asked == null) {
            drop(); // Whatever this is, it answers nothing.
            return;
        }
        answered = true;
        try {
            // A callback may have closed the client.
            if (reader.read(data) && call != null) {
                complete(asked, data.readable() > 0);
            }
        } catch (ProtocolException | RuntimeException | Error e) {
            abandon();
            asked.reject(e);
        }
    }

    /// @param surplus whether more came than the answer: where the next one would begin is unknown then
    private void complete(ClientCall asked, boolean surplus) {
        HttpAnswer answer = reader.taken();
        boolean clean = !surplus && unsent == null;
        call = null;
        unsent = null;
        wasKept = true;
        asked.resolve(answer);
        if (clean && reader.keepsAlive() && !asked.isLast() && stream.isOpen()) {
            pool.kept(this);
        } else if (clean) {
            pool.gone(this);
            stream.close();
        } else {
            drop();
        }
    }

    /// Is to be kept until there is something to carry.
    void rest() {
        stream.idleTimeout(pool.config().idleTimeout());
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void onEnd(Stream stream) {
        ClientCall asked = call;
        if (asked == null) {
            pool.gone(this);
            stream.close();
        } else if (reader.readEnd()) {
            complete(asked, false);
        } else {
            lost(CloseReason.ENDED);
            stream.abort();
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        lost(reason);
    }

    private void lost(CloseReason reason) {
        ClientCall asked = call;
        call = null;
        unsent = null;
        if (asked != null && isStale(reason) && asked.tryAgain()) {
            pool.again(this, asked);
            return;
        }
        pool.gone(this);
        if (asked != null) {
            String when = answered ? "in the middle of its answer" : "before it answered";
            asked.reject(
                    new StreamClosedException(
                            pool.origin() + " closed the connection " + when + ": " + reason,
                            reason,
                            stream.failure()));
        }
    }

    /// Whether it had been closed by the peer, most likely, when the request was sent.
    private boolean isStale(CloseReason reason) {
        return wasKept
                && !answered
                && switch (reason) {
                    case ENDED, RESET, FAILED, TLS_FAILED -> true;
                    default -> false;
                };
    }
}
