package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The body of a response as a blocking handler writes it.
///
/// ```
///     handler's thread                                loop thread
///     write ─▶ buffer ── full, flush(), end() ─▶ queue ─▶ ServerResponseStream
///                 waits before the next one ◀── output has room ──┘
/// ```
///
/// A filled buffer is one task for the loop. The thread fills the next one meanwhile, and waits
/// before it hands that over while the client does not read. The head is sent with the first
/// buffer.
///
/// The handler's thread, or threads that it has started, one at a time; or callbacks on the loop
/// thread, which never wait.
final class BlockingResponseStream implements ResponseStream {
    private static final int MIN_BUFFER_BYTES = 1 << 10;
    private static final int INITIAL_BUFFER_BYTES = 16 << 10;

    /// The size of the buffer of a response that has filled the first one.
    private static final int MAX_BUFFER_BYTES = 64 << 10;

    private final Exchange exchange;
    private final BlockingCall call;
    private final long length;

    /// Sends the head, on the loop thread.
    private final Supplier<ServerResponseStream> begin;

    /// Whether every write is flushed.
    private final boolean autoFlush;

    // Shared: guarded by this, which is not held while a thread waits for the loop.
    private final Queue<Consumer<ServerResponseStream>> queue = new ArrayDeque<>();
    private byte[] buffer = HeaderLines.EMPTY;
    private int count;
    private boolean noMemory; // For a larger buffer.
    private long acquired; // Of the heap budget, for the buffer and the queue.
    private long left;
    private boolean ended;

    /// The number of threads between the first and the last piece of a write.
    private int unfinished;

    /// Whether the handler has ended it before it was closed for another reason.
    private boolean endedOpen;

    /// Completes when the output has room after the last hand-over; `null` before the first.
    private @Nullable CompletableFuture<Boolean> room;

    // Shared: written by the loop thread; `null` until the head is sent.
    private volatile @Nullable ServerResponseStream target;

    /// @param length the announced length; -1 if unknown
    BlockingResponseStream(
            Exchange exchange,
            BlockingCall call,
            long length,
            Supplier<ServerResponseStream> begin,
            boolean autoFlush) {
        this.exchange = exchange;
        this.call = call;
        this.length = length;
        this.begin = begin;
        this.autoFlush = autoFlush;
        left = length;
    }

    private boolean isOnLoop() {
        boolean here = exchange.context.loop.isLoopThread();
        if (!here || !exchange.isLive(exchange.generation())) {
            call.requireRunning(exchange.generation());
        }
        return here;
    }

    private boolean isWriting() {
        ServerResponseStream known = target;
        return known == null ? !call.isLost() : known.isWriting();
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(Buffer content) {
        boolean _ = isOnLoop();
        return write(content.getBytes());
    }

    @Override
    public boolean write(String content) {
        return write(content.getBytes(UTF_8));
    }

    @Override
    public boolean write(byte[] content) {
        boolean onLoop = isOnLoop();
        announce(content.length);
        countWriter(onLoop ? 0 : 1);
        try {
            for (int at = 0; at < content.length && isWriting(); ) {
                at += append(content, at);
                if (isFull()) {
                    handOver(onLoop);
                }
            }
            if (onLoop || autoFlush) {
                handOver(onLoop);
            }
        } finally {
            countWriter(onLoop ? 0 : -1);
        }
        return isWriting() && (!onLoop || call.connection.output.hasRoom());
    }

    private synchronized void countWriter(int more) {
        unfinished += more;
    }

    /// Returns whether the loop has only a part of a write, or none of it. Any thread.
    synchronized boolean isWritePending() {
        return unfinished > 0 || count > 0 || !queue.isEmpty();
    }

    private synchronized void announce(int bytes) {
        if (endedOpen) {
            throw new IllegalStateException(ServerResponseStream.ENDED);
        }
        if (left >= 0 && isWriting()) {
            ServerResponseStream.requireWithin(left, bytes);
            left -= bytes;
        }
    }

    private synchronized int append(byte[] content, int from) {
        int wanted = Math.min(count + content.length - from, limit());
        if (wanted > buffer.length) {
            grow(Math.clamp(Math.max(wanted, 2 * buffer.length), MIN_BUFFER_BYTES, limit()));
        }
        int bytes = Math.min(content.length - from, buffer.length - count);
        System.arraycopy(content, from, buffer, count, bytes);
        count += bytes;
        return bytes;
    }

    /// Without memory the buffer stays small, and is handed over earlier. The smallest one does not
    /// count.
    private void grow(int capacity) {
        int more = capacity - Math.max(buffer.length, MIN_BUFFER_BYTES);
        noMemory = !exchange.context.heap.tryAcquire(more);
        acquired += noMemory ? 0 : more;
        buffer = Arrays.copyOf(buffer, noMemory ? capacity - more : capacity);
    }

    /// Releases the memory of everything that was handed over, or is discarded.
    synchronized void release() {
        exchange.context.heap.release(acquired);
        acquired = 0;
    }

    private synchronized boolean isFull() {
        return count == (noMemory ? buffer.length : limit());
    }

    private int limit() {
        return room == null ? INITIAL_BUFFER_BYTES : MAX_BUFFER_BYTES;
    }

    @Override
    public void flush() {
        boolean onLoop = isOnLoop();
        if (isWriting()) {
            enqueue(ServerResponseStream::flushBody);
            handOver(onLoop);
        }
    }

    @Override
    public ResponseStream trailer(String name, String value) {
        boolean _ = isOnLoop();
        if (length >= 0 && isWriting()) {
            throw new IllegalStateException(ServerResponseStream.NO_TRAILERS);
        }
        HeaderList.requireTrailerName(name);
        new HeaderList().add(name, value); // Throws here if it is no header.
        enqueue(to -> to.addTrailer(name, value));
        return this;
    }

    @Override
    public Promise<?> end() {
        boolean onLoop = isOnLoop();
        long missing = endQueue();
        if (missing >= 0) {
            submitQueue(onLoop);
        }
        if (missing > 0) {
            throw ServerResponseStream.tooFew(missing);
        }
        return exchange.context.done;
    }

    /// Returns how many announced bytes are missing; -1 if the stream was ended before.
    private synchronized long endQueue() {
        if (ended) {
            return -1;
        }
        ended = true;
        endedOpen = isWriting();
        long missing = endedOpen ? Math.max(0, left) : 0;
        enqueue(missing > 0 ? ServerResponseStream::endTruncated : ServerResponseStream::endBody);
        return missing;
    }

    /// Called when the handler has returned. Sends the rest, which the loop then cuts off.
    void handlerReturned() {
        boolean rest;
        synchronized (this) {
            rest = !ended;
        }
        if (rest) {
            submitQueue(false);
        }
    }

    // ------------------------------------------------------------------ handing over

    /// Hands everything to the loop. Waits until the output has room for it, unless this is the
    /// loop thread. An interrupt because the connection is closed does not end the wait: the client
    /// may read the rest, within its timeout.
    private void handOver(boolean onLoop) {
        CompletableFuture<Boolean> before;
        synchronized (this) {
            before = room;
        }
        if (!onLoop && before != null) {
            boolean _ =
                    exchange.context.onLoop.await(
                            before, () -> !isWriting() || call.isInterrupted());
        }
        synchronized (this) {
            if (room == null || room.isDone()) { // Another thread may wait for this one.
                room = new CompletableFuture<>();
            }
        }
        submitQueue(onLoop);
    }

    private void submitQueue(boolean onLoop) {
        if (onLoop) {
            drain();
        } else {
            call.submit(this::drain);
        }
    }

    private synchronized void enqueue(Consumer<ServerResponseStream> action) {
        pack();
        queue.add(action);
    }

    /// Moves the buffer to the queue.
    private void pack() {
        if (count > 0) {
            byte[] filled = count == buffer.length ? buffer : Arrays.copyOf(buffer, count);
            buffer = HeaderLines.EMPTY;
            noMemory = false;
            count = 0;
            queue.add(to -> to.writeBody(filled));
        }
    }

    private synchronized @Nullable Consumer<ServerResponseStream> next() {
        pack();
        if (queue.isEmpty()) {
            release();
        }
        return queue.poll();
    }

    /// Loop thread.
    private void drain() {
        ServerResponseStream to = target;
        try {
            if (to == null) {
                to = begin.get();
                target = to;
            }
            for (var action = next(); action != null; action = next()) {
                action.accept(to);
            }
        } finally {
            if (to == null) {
                to = ServerResponseStream.closed(exchange.response, call.connection);
                target = to;
            }
            CompletableFuture<Boolean> waiting;
            synchronized (this) {
                waiting = room;
            }
            if (waiting != null) {
                to.whenWritable(waiting);
            }
        }
    }

    // ------------------------------------------------------------------ callbacks

    @Override
    public ResponseStream onWritable(Runnable callback) {
        boolean _ = isOnLoop();
        enqueue(to -> to.writableCallback(callback));
        return this;
    }

    @Override
    public ResponseStream onClose(Runnable callback) {
        if (isOnLoop()) {
            exchange.response.onComplete(callback);
        } else {
            call.submit(() -> exchange.response.onComplete(callback));
        }
        return this;
    }

    @Override
    public boolean isOpen() {
        boolean _ = isOnLoop();
        return isWriting();
    }
}
