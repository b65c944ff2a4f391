package dev.gyre.http.internal.server;

import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.time.Duration;

/// Content that stays in its array, and is copied to the stream piece by piece as the peer takes it: one that does not
/// read costs the loop no more memory for a megabyte than for a few pages.
///
/// Loop thread only.
final class LongContent implements Unfinished {
    /// What is shorter is copied at once: the stream holds as much before it says no.
    static final int LEAST_BYTES = 64 << 10;

    /// When the loop's memory is used up, others have it, and how long they keep it is not known.
    private static final Duration LATER = Duration.ofMillis(50);

    private final ResponseState response;
    private final HttpConnection connection;
    private final ByteBuffer content;
    private final LoopMemory memory;
    private @Nullable Timer retry;
    private boolean holding = true;

    LongContent(ResponseState response, HttpConnection connection, byte[] content) {
        this.response = response;
        this.connection = connection;
        this.content = ByteBuffer.wrap(content);
        memory = connection.bench.memory;
        memory.hold(content);
    }

    /// Writes as much as there is room for.
    ///
    /// @return whether that was the rest
    boolean write() {
        while (content.hasRemaining() && connection.out.hasRoom()) {
            int bytes = Math.min(content.remaining(), LoopMemory.PIECE_BYTES);
            if (!memory.has(bytes, connection.stream())) {
                writeLater();
                return false;
            }
            ByteBuffer piece = content.slice(content.position(), bytes);
            content.position(content.position() + bytes);
            connection.out.write(piece);
            response.addContent(bytes);
        }
        if (content.hasRemaining()) {
            return false;
        }
        letGo();
        return !response.exchange.isTornOff();
    }

    private void letGo() {
        if (holding) {
            holding = false;
            memory.letGo(content.array());
        }
    }

    /// Nobody tells of memory that others give back, and of room only who was told that there is none.
    private void writeLater() {
        Timer known = retry;
        if (known == null) {
            retry = connection.bench.loop.after(LATER, _ -> writable()).unreference();
        } else if (!known.isScheduled()) {
            known.reschedule(LATER);
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
        letGo();
    }
}
