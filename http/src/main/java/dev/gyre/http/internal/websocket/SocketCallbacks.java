package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.http.internal.memory.ByteAccumulator;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Calls the callbacks of a socket's user. A callback that throws closes the socket.
///
/// Loop thread only.
final class SocketCallbacks {
    private final CloseHandshake closing;

    // Loop thread only.
    private EventLoop loop;
    private WebSocketScratch scratch;
    @Nullable Consumer<? super String> text;
    @Nullable Consumer<? super Buffer> binary;
    @Nullable Consumer<? super Buffer> ping;
    @Nullable Consumer<? super Buffer> pong;
    @Nullable Runnable writable;

    SocketCallbacks(EventLoop loop, WebSocketScratch scratch, CloseHandshake closing) {
        this.loop = loop;
        this.scratch = scratch;
        this.closing = closing;
    }

    void moveTo(EventLoop loop, WebSocketScratch scratch) {
        this.loop = loop;
        this.scratch = scratch;
    }

    /// Delivers a message in the first bytes of an array. Text is valid.
    ///
    /// @param source the array's memory, which is released before the callback: a response may need
    ///     as much; null if it is the loop's
    void deliver(boolean isText, byte[] payload, int length, @Nullable ByteAccumulator source) {
        if (!isText) {
            deliver(binary, payload, length, source);
            return;
        }
        Consumer<? super String> callback = text;
        if (callback != null) {
            try {
                String message = new String(payload, 0, length, UTF_8);
                if (source != null) {
                    source.release();
                }
                callback.accept(message);
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }
    }

    /// Delivers bytes in a buffer that is released after the callback.
    void deliver(
            @Nullable Consumer<? super Buffer> callback,
            byte[] payload,
            int length,
            @Nullable ByteAccumulator source) {
        if (callback == null) {
            return;
        }
        Buffer buffer = filled(payload, length);
        if (source != null) {
            source.release();
        }
        if (buffer == null) {
            closing.fail(CloseHandshake.TRY_AGAIN_LATER, "no memory for a message");
            return;
        }
        try {
            try {
                callback.accept(buffer);
            } finally {
                buffer.release();
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /// @return null if the loop's memory is used up
    private @Nullable Buffer filled(byte[] payload, int length) {
        Buffer reused = length > WebSocketScratch.SCRATCH_BYTES ? scratch.delivery(length) : null;
        if (reused != null) {
            return reused.put(payload, 0, length).slice(length);
        }
        Buffer acquired = Buffer.tryAcquire(loop, Math.max(1, length));
        return acquired == null ? null : acquired.put(payload, 0, length);
    }

    void deliverWritable() {
        Runnable callback = writable;
        if (callback != null) {
            try {
                callback.run();
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }
    }

    /// Closes the socket after a callback threw, and reports the throwable to the loop. Throwing it
    /// here would lose the close frame.
    void fail(Throwable thrown) {
        closing.fail(CloseHandshake.INTERNAL_ERROR, "a callback failed");
        report(loop, thrown);
    }

    /// Throws in a callback of its own, so the loop's failure policy applies.
    static void report(EventLoop loop, Throwable thrown) {
        loop.microtask(
                () -> {
                    if (thrown instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) thrown;
                });
    }
}
