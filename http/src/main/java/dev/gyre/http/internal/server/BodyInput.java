package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.http.Body;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;

/// Content as a thread reads it that may wait. Reading from the peer stops while more than a little is here.
final class BodyInput extends InputStream {
    private static final int HIGH_BYTES = 64 << 10;

    private final EventLoop loop;
    private final Body body;

    // Shared: the loop adds, the reading thread takes; guarded by this.
    private final Queue<byte[]> pieces = new ArrayDeque<>();
    private int waiting;
    private boolean ended;
    private @Nullable Throwable failure;

    // The reading thread only.
    private byte[] current = {};
    private int at;

    BodyInput(EventLoop loop, Body body) {
        this.loop = loop;
        this.body = body;
    }

    synchronized void add(byte[] piece) {
        pieces.add(piece);
        waiting += piece.length;
        if (waiting > HIGH_BYTES) {
            body.pause();
        }
        notifyAll();
    }

    /// @param reason why there is no more; null if that was all
    synchronized void finish(@Nullable Throwable reason) {
        ended = true;
        failure = reason;
        notifyAll();
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (at == current.length && !hasNext()) {
            return -1;
        }
        int bytes = Math.min(length, current.length - at);
        System.arraycopy(current, at, into, offset, bytes);
        at += bytes;
        return bytes;
    }

    private static InterruptedIOException interrupted(InterruptedException why) {
        var failure = new InterruptedIOException("interrupted while content was waited for");
        failure.initCause(why);
        return failure;
    }

    private boolean hasNext() throws IOException {
        boolean low;
        synchronized (this) {
            while (pieces.isEmpty() && !ended) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    if (pieces.isEmpty() && !ended) {
                        throw interrupted(e);
                    }
                }
            }
            byte[] next = pieces.poll();
            if (next == null) {
                if (failure != null) {
                    throw new IOException(
                            "the content is not whole: " + failure.getMessage(), failure);
                }
                return false;
            }
            current = next;
            at = 0;
            boolean wasHigh = waiting > HIGH_BYTES;
            waiting -= next.length;
            low = wasHigh && waiting <= HIGH_BYTES && !ended;
        }
        if (low) {
            loop.submitPriority(body::resume);
        }
        return true;
    }
}
