package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// What a socket's user wants to hear of, and how that is told. A callback that throws costs its socket.
///
/// Loop thread only.
final class Callbacks {
    private final EventLoop loop;
    private final Workbench bench;
    private final Closing closing;

    // Loop thread only.
    private @Nullable Consumer<? super String> text;
    private @Nullable Consumer<? super Buffer> binary;
    private @Nullable Consumer<? super Buffer> ping;
    private @Nullable Consumer<? super Buffer> pong;
    private @Nullable Runnable writable;

    Callbacks(EventLoop loop, Workbench bench, Closing closing) {
        this.loop = loop;
        this.bench = bench;
        this.closing = closing;
    }

    void onText(Consumer<? super String> callback) {
        text = callback;
    }

    void onBinary(Consumer<? super Buffer> callback) {
        binary = callback;
    }

    void onPing(Consumer<? super Buffer> callback) {
        ping = callback;
    }

    void onPong(Consumer<? super Buffer> callback) {
        pong = callback;
    }

    void onWritable(Runnable callback) {
        writable = callback;
    }

    void tellText(byte[] content, int length) {
        Consumer<? super String> told = text;
        if (told != null) {
            try {
                told.accept(new String(content, 0, length, UTF_8));
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    void tellBinary(byte[] content, int length) {
        hand(binary, content, length);
    }

    void tellPing(byte[] content, int length) {
        hand(ping, content, length);
    }

    void tellPong(byte[] content, int length) {
        hand(pong, content, length);
    }

    void tellWritable() {
        Runnable told = writable;
        if (told != null) {
            try {
                told.run();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    /// Hands bytes on in a buffer that is refused to whoever keeps it.
    private void hand(@Nullable Consumer<? super Buffer> told, byte[] content, int length) {
        if (told == null) {
            return;
        }
        Buffer buffer = filled(content, length);
        if (buffer == null) {
            closing.fail(CloseCode.TRY_LATER, "no memory for a message");
            return;
        }
        try {
            try {
                told.accept(buffer);
            } finally {
                buffer.release();
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /// A long one is a slice of memory that is there already, and refused as well when that was released.
    private @Nullable Buffer filled(byte[] content, int length) {
        Buffer kept = length > Workbench.SCRATCH_BYTES ? bench.handing(length) : null;
        if (kept != null) {
            return kept.put(content, 0, length).slice(length);
        }
        Buffer taken = Buffer.tryAcquire(loop, Math.max(1, length));
        return taken == null ? null : taken.put(content, 0, length);
    }

    /// A callback threw: it costs the socket, and the loop hears of it. Thrown on from here it would cost the close
    /// frame too.
    void failed(Throwable thrown) {
        closing.fail(CloseCode.FAILED_HERE, "failed here");
        report(loop, thrown);
    }

    /// Throws it where it concerns nobody but the loop.
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
