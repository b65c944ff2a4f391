package dev.gyre.http.internal.server;

import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.time.Duration;

/// A large body that stays in its array and is copied to the stream in pieces as the client reads.
/// A client that does not read costs the loop a few pages, not a megabyte.
///
/// Loop thread only.
final class LargeBodyWriter implements PendingBody {
    /// Smaller bodies are copied at once: the stream accepts that much without backpressure.
    static final int MIN_BYTES = 64 << 10;

    /// The retry interval while other connections use up the loop's memory. Nothing signals its
    /// release.
    private static final Duration RETRY = Duration.ofMillis(50);

    private final ResponseState response;
    private final HttpConnection connection;
    private final OutputBudget budget;

    // Loop thread only.
    private final ByteBuffer content;
    private @Nullable Timer retry;
    private boolean held = true;

    LargeBodyWriter(ResponseState response, HttpConnection connection, byte[] content) {
        this.response = response;
        this.connection = connection;
        this.content = ByteBuffer.wrap(content);
        budget = connection.context.outputBudget;
        budget.hold(content);
    }

    /// Writes until the stream has no more room.
    ///
    /// @return whether the body is complete
    boolean write() {
        while (content.hasRemaining() && connection.output.hasRoom()) {
            int bytes = Math.min(content.remaining(), OutputBudget.BUFFER_BYTES);
            if (!budget.has(bytes, connection.stream())) {
                retryLater();
                return false;
            }
            ByteBuffer piece = content.slice(content.position(), bytes);
            content.position(content.position() + bytes);
            connection.output.write(piece);
            response.addBodyBytes(bytes);
        }
        if (content.hasRemaining()) {
            return false;
        }
        release();
        return !response.exchange.isConnectionLost();
    }

    private void retryLater() {
        Timer known = retry;
        if (known == null) {
            retry = connection.context.loop.after(RETRY, _ -> writable()).unreference();
        } else if (!known.isScheduled()) {
            known.reschedule(RETRY);
        }
    }

    @Override
    public void writable() {
        if (write()) {
            response.complete();
        }
    }

    @Override
    public void lost() {
        Timer known = retry;
        if (known != null) {
            known.cancel();
        }
        release();
    }

    private void release() {
        if (held) {
            held = false;
            budget.release(content.array());
        }
    }
}
