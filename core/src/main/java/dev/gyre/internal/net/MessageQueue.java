package dev.gyre.internal.net;

import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.io.Buffer;
import dev.gyre.io.DatagramConfig;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayDeque;

/// Messages that wait to be sent, in order, within the limits of a configuration.
///
/// Loop thread only.
final class MessageQueue {
    /// A message of its own.
    ///
    /// @param to null for the socket's peer
    record Waiting(NativeBuffer message, @Nullable SocketAddress to) {}

    private final BufferPool pool;
    private final int mostMessages;
    private final int mostBytes;

    private final ArrayDeque<Waiting> messages = new ArrayDeque<>(1);
    private int bytes;

    MessageQueue(BufferPool pool, DatagramConfig config) {
        this.pool = pool;
        mostMessages = config.queuedMessages();
        mostBytes = config.queuedBytes();
    }

    int size() {
        return messages.size();
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /// Copies a message, unless there is no room for it, or the loop's memory is used up.
    boolean offer(Buffer message, @Nullable SocketAddress to) {
        int length = message.readable();
        if (messages.size() == mostMessages || length > mostBytes - bytes) {
            return false;
        }
        NativeBuffer copy = pool.acquire(Math.max(1, length));
        if (copy == null) {
            return false;
        }
        copy.put(message.asReadable());
        messages.add(new Waiting(copy, to));
        bytes += length;
        return true;
    }

    @Nullable Waiting first() {
        return messages.peek();
    }

    void removeFirst() {
        letGo(messages.remove());
    }

    void clear() {
        messages.forEach(this::letGo);
        messages.clear();
    }

    private void letGo(Waiting sent) {
        bytes -= sent.message().readable();
        sent.message().release();
    }
}
