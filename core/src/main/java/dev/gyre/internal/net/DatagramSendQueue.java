package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.DatagramIo;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.io.Buffer;
import dev.gyre.io.DatagramConfig;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/// Sends messages at once if the kernel has room, and queues them in order otherwise. Drops
/// messages above the limits of the configuration.
///
/// Loop thread only, except the counters.
final class DatagramSendQueue {
    /// @param message a copy that the queue owns
    /// @param to null for the socket's peer
    private record Queued(NativeBuffer message, @Nullable SocketAddress to) {}

    private final DatagramIo exchange;
    private final OpenDescriptor socket;
    private final int family;
    private final BufferPool pool;
    private final int maxMessages;
    private final int maxBytes;
    private final Consumer<SystemCallException> onFailure;

    // Loop thread only.
    private final ArrayDeque<Queued> queue = new ArrayDeque<>(1);
    private int queuedBytes;

    // Shared: written by the loop thread, read by any.
    final Counter sent = new Counter();
    final Counter dropped = new Counter();

    /// @param onFailure called at once for each error
    DatagramSendQueue(
            DatagramIo exchange,
            OpenDescriptor socket,
            int family,
            BufferPool pool,
            DatagramConfig config,
            Consumer<SystemCallException> onFailure) {
        this.exchange = exchange;
        this.socket = socket;
        this.family = family;
        this.pool = pool;
        maxMessages = config.maxQueuedMessages();
        maxBytes = config.maxQueuedBytes();
        this.onFailure = onFailure;
    }

    int size() {
        return queue.size();
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    /// Sends or queues a message. Does not consume the buffer.
    ///
    /// @param to null for the socket's peer
    /// @return false if the message is dropped
    boolean offer(Buffer message, @Nullable SocketAddress to) {
        int result = queue.isEmpty() ? trySend(message, to) : -Errno.EAGAIN;
        if (result != -Errno.EAGAIN) {
            return isSent(result);
        }
        boolean queued = enqueue(message, to);
        dropped.add(queued ? 0 : 1);
        return queued;
    }

    private boolean enqueue(Buffer message, @Nullable SocketAddress to) {
        int length = message.readable();
        if (queue.size() == maxMessages || length > maxBytes - queuedBytes) {
            return false;
        }
        NativeBuffer copy = pool.acquire(Math.max(1, length));
        if (copy == null) {
            return false;
        }
        copy.put(message.asReadable());
        queue.add(new Queued(copy, to));
        queuedBytes += length;
        return true;
    }

    /// Sends at most `max` queued messages, until the kernel has no more room.
    void flush(int max) {
        Queued first = queue.peek();
        for (int i = 0; i < max && first != null; i++) {
            int result = trySend(first.message(), first.to());
            if (result == -Errno.EAGAIN) {
                return;
            }
            boolean _ = isSent(result);
            release(queue.remove());
            first = queue.peek();
        }
    }

    /// Sends a message. The kernel may report instead that an earlier message did not reach its
    /// peer. Reports that error and retries.
    private int trySend(Buffer message, @Nullable SocketAddress to) {
        int result = exchange.send(socket, family, message, to);
        if (result == -Errno.ECONNREFUSED && family != Linux.AF_UNIX) {
            fail(result);
            result = exchange.send(socket, family, message, to);
        }
        return result;
    }

    private boolean isSent(int result) {
        if (result >= 0) {
            sent.add(1);
        } else if (result == -Errno.ENOBUFS) {
            dropped.add(1); // The device queue is full, and the kernel reports no room later.
        } else {
            fail(result);
        }
        return result >= 0;
    }

    private void fail(int result) {
        onFailure.accept(new SystemCallException("sendmsg", -result, socket.fd()));
    }

    void clear() {
        dropped.add(queue.size());
        queue.forEach(this::release);
        queue.clear();
    }

    private void release(Queued done) {
        queuedBytes -= done.message().readable();
        done.message().release();
    }
}
