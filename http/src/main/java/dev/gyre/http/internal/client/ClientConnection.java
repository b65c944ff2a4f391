package dev.gyre.http.internal.client;

import dev.gyre.Promise;
import dev.gyre.http.HttpAnswer;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.TimeoutKind;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.nio.ByteBuffer;

/// A connection, which carries one call after the other and is read also between them, so its end is noticed.
///
/// ```
///     kept ── carry ──▶ looks at what has arrived ── nothing ──▶ writes the request ── answer ──▶ kept
///                                      └── anything ──▶ dropped: the call is for another connection
/// ```
///
/// **Nothing that nobody asked for is taken for an answer.** What came between two calls may lie in the kernel when
/// the second is made, so a request is written only after all that has arrived was read: whatever that was, it was
/// there before the request. As nothing of that was sent, the call can go to another connection, whatever it is.
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

    /// Whether the request that is carried was written; before that, the peer has nothing to say.
    private boolean asked;

    private boolean answered;

    /// Whether anything moves; null unless the call has a time for that.
    private @Nullable StallWatch watch;

    ClientConnection(Pool pool, Stream stream, AnswerReader reader) {
        this.pool = pool;
        this.stream = stream;
        this.reader = reader;
    }

    boolean isOpen() {
        return stream.isOpen();
    }

    /// Sends a request, and waits for its answer.
    void carry(ClientCall next) {
        assert call == null : "one call at a time";
        call = next;
        answered = false;
        asked = false;
        next.carriedBy(this);
        stream.idleTimeout(pool.config().streams().idleTimeout());
        if (wasKept) {
            Promise<?> _ =
                    stream.inputDelivered()
                            .then(
                                    _ -> {
                                        askUnlessGone(next);
                                        return true;
                                    },
                                    _ -> false); // Who was told of the end has seen to it.
        } else {
            ask(next);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a call is only itself
    private void askUnlessGone(ClientCall next) {
        if (call == next && stream.isOpen()) {
            ask(next);
        }
    }

    private void ask(ClientCall next) {
        asked = true;
        reader.begin(next);
        stream.write(next.head());
        if (!next.stallTimeout().isZero()) {
            watch = new StallWatch(next, stream, next.stallTimeout());
        }
        pace();
        byte[] content = next.content();
        unsent = content.length == 0 ? null : ByteBuffer.wrap(content);
        sendOn();
        Upload upload = next.upload();
        if (upload != null) {
            guarded(next, () -> upload.begin(stream));
        }
    }

    /// Calls a callback of the user's: if that throws, the call has failed.
    private void guarded(ClientCall carried, Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | Error e) {
            abandon();
            carried.reject(e);
        }
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
        ClientCall carried = call;
        Upload upload = carried == null ? null : carried.upload();
        if (carried != null && upload != null) {
            guarded(carried, upload::writable);
        }
    }

    /// Something of the request was written.
    void written() {
        if (watch != null) {
            watch.written();
        }
    }

    /// Nobody waits any more for what it carries.
    void abandon() {
        letGo();
        drop();
    }

    /// Carries nothing now.
    private void letGo() {
        call = null;
        unsent = null;
        if (watch != null) {
            watch.stop();
            watch = null;
        }
    }

    /// Is of no use any more.
    void drop() {
        pool.gone(this);
        stream.abort();
    }

    // ------------------------------------------------------------------ answers

    /// Reads as its call wants it. What it was found with before it was asked is read in any case.
    void pace() {
        ClientCall carried = call;
        if (carried == null || !asked) {
            return;
        }
        if (carried.isPaused()) {
            stream.pause();
        } else if (stream.isPaused()) {
            stream.resume();
        }
        if (watch != null) {
            watch.moved();
        }
    }

    /// A time of its streams' own: of silence that the call itself has asked for nobody complains.
    @Override
    public boolean onTimeout(Stream stream, TimeoutKind timeout) {
        ClientCall carried = call;
        return timeout == TimeoutKind.IDLE && carried != null && carried.isPaused();
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        ClientCall carried = call;
        if (carried == null || !asked) {
            // Whatever this is, it answers nothing.
            lost(CloseReason.ABORTED);
            stream.abort();
            return;
        }
        answered = true;
        if (watch != null) {
            watch.moved();
        }
        try {
            // A callback may have closed the client.
            if (reader.read(data) && call != null) {
                complete(carried, data.readable() > 0);
            }
        } catch (ProtocolException | RuntimeException | Error e) {
            abandon();
            carried.reject(e);
        }
    }

    /// @param surplus whether more came than the answer: where the next one would begin is unknown then
    private void complete(ClientCall carried, boolean surplus) {
        HttpAnswer answer = reader.taken();
        Upload upload = carried.upload();
        boolean clean = !surplus && unsent == null && (upload == null || upload.isEnded());
        letGo();
        wasKept = true;
        if (stream.isPaused()) {
            stream.resume(); // With the last byte, after which there was nothing to wait for.
        }
        carried.resolve(answer);
        if (clean && reader.keepsAlive() && !carried.isLast() && stream.isOpen()) {
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
        wasKept = true;
        stream.idleTimeout(pool.config().idleTimeout());
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void onEnd(Stream stream) {
        ClientCall carried = call;
        if (carried == null) {
            pool.gone(this);
            stream.close();
        } else if (asked && reader.readEnd()) {
            complete(carried, false);
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
        ClientCall carried = call;
        letGo();
        if (carried != null
                && (asked ? isStale(reason) && carried.tryAgain() : carried.isPending())) {
            pool.again(this, carried);
            return;
        }
        pool.gone(this);
        if (carried != null) {
            carried.reject(
                    new StreamClosedException(words(carried, reason), reason, stream.failure()));
        }
    }

    private String words(ClientCall carried, CloseReason reason) {
        if (reason == CloseReason.OUTPUT_LIMIT) {
            return reason
                    + ": more than "
                    + carried.mostWaiting()
                    + " bytes of the request waited to be sent to "
                    + pool.origin()
                    + ": stop when write() says no, or raise StreamConfig.withOutputLimit";
        }
        String when = answered ? "in the middle of its answer" : "before it answered";
        return pool.origin() + " closed the connection " + when + ": " + reason;
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
