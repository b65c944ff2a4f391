package dev.gyre.http.internal.server;

import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// A body as the thread of a blocking handler reads it. Reading from the client pauses while more
/// than a little is unread here.
final class BodyInputStream extends InputStream {
    private static final int HIGH_WATER_MARK_BYTES = 64 << 10;

    private final LoopInvoker invoker;
    private final RequestBody body;
    private final HeapBudget heap;

    // Shared: the loop adds, the reading thread takes; guarded by this.
    private final Queue<byte[]> pieces = new ArrayDeque<>();
    private int unread;
    private int acquired;
    private boolean ended;
    private @Nullable Throwable failure;
    private CompletableFuture<Boolean> arrival = new CompletableFuture<>();

    // Reading thread only.
    private byte[] current = {};
    private int at;

    BodyInputStream(LoopInvoker invoker, RequestBody body, HeapBudget heap) {
        this.invoker = invoker;
        this.body = body;
        this.heap = heap;
    }

    /// Loop thread.
    void add(Buffer data) {
        if (heap.tryAcquire(data.readable())) {
            add(data.getBytes());
        } else {
            body.failWithoutMemory();
        }
    }

    private synchronized void add(byte[] piece) {
        acquired += piece.length;
        pieces.add(piece);
        unread += piece.length;
        if (unread > HIGH_WATER_MARK_BYTES) {
            body.pause(true);
        }
        arrival.complete(true);
    }

    /// Loop thread.
    ///
    /// @param reason the failure; `null` if the body is complete
    synchronized void finish(@Nullable Throwable reason) {
        ended = true;
        failure = reason;
        arrival.complete(true);
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

    private boolean hasNext() throws IOException {
        byte[] next = poll();
        while (next == null && !isEnded()) {
            await();
            next = poll();
        }
        if (next == null) {
            next = poll(); // Added before the end.
        }
        if (next == null) {
            throwIfFailed();
            return false;
        }
        current = next;
        at = 0;
        return true;
    }

    private synchronized byte @Nullable [] poll() {
        byte[] next = pieces.poll();
        if (next != null) {
            release(Math.min(acquired, next.length));
            boolean wasHigh = unread > HIGH_WATER_MARK_BYTES;
            unread -= next.length;
            if (wasHigh && unread <= HIGH_WATER_MARK_BYTES && !ended) {
                invoker.submit(() -> body.pause(false));
            }
        }
        return next;
    }

    /// Called when the request has ended. Unread bytes no longer count.
    synchronized void release() {
        release(acquired);
    }

    private void release(int bytes) {
        heap.release(bytes);
        acquired -= bytes;
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    private synchronized void throwIfFailed() throws IOException {
        if (failure != null) {
            throw new IOException("the body is incomplete: " + failure.getMessage(), failure);
        }
    }

    /// Waits until something has arrived. An interrupted thread reads what is there.
    private void await() throws IOException {
        CompletableFuture<Boolean> awaited;
        synchronized (this) {
            if (!pieces.isEmpty() || ended) {
                return;
            }
            if (arrival.isDone()) {
                arrival = new CompletableFuture<>();
            }
            awaited = arrival;
        }
        try {
            boolean _ = invoker.await(awaited, () -> false);
        } catch (CompletionException e) {
            var interrupted = new InterruptedIOException("interrupted while reading the body");
            interrupted.initCause(e.getCause());
            throw interrupted;
        }
    }
}
