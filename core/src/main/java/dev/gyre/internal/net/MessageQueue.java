package dev.gyre.internal.net;

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

    private final int mostMessages;
    private final int mostBytes;

    private final ArrayDeque<Waiting> messages = new ArrayDeque<>(1);
    private int bytes;

    MessageQueue(DatagramConfig config) {
        mostMessages = config.queuedMessages();
        mostBytes = config.queuedBytes();
    }

    int size() {
        return messages.size();
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /// Copies a message, unless there is no room for it.
    boolean offer(Buffer message, @Nullable SocketAddress to) {
        int length = message.readable();
        if (messages.size() == mostMessages || length > mostBytes - bytes) {
            return false;
        }
        messages.add(new Waiting(copyOf(message, length), to));
        bytes += length;
        return true;
    }

    private static NativeBuffer copyOf(Buffer message, int length) {
        NativeBuffer copy = NativeBuffer.allocate(Math.max(1, length));
        copy.put(message.asReadable());
        return copy;
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
