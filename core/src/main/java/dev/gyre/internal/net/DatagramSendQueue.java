package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.io.MessageExchange;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.function.Consumer;

/// Sends messages: at once if the kernel takes them, later and in order if not, and not at all if there are too many.
///
/// Loop thread only, but for the counters.
final class DatagramSendQueue {
    private final MessageExchange exchange;
    private final OpenDescriptor socket;
    private final int family;
    private final MessageQueue queue;
    private final Consumer<SystemCallException> onFailure;

    // Shared: written by the loop thread, read by any.
    final Counter sent = new Counter();
    final Counter dropped = new Counter();

    /// Makes an empty one.
    ///
    /// @param onFailure told at once of each error
    DatagramSendQueue(
            MessageExchange exchange,
            OpenDescriptor socket,
            int family,
            MessageQueue queue,
            Consumer<SystemCallException> onFailure) {
        this.exchange = exchange;
        this.socket = socket;
        this.family = family;
        this.queue = queue;
        this.onFailure = onFailure;
    }

    int size() {
        return queue.size();
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    /// Sends or queues a message, which is left in its buffer.
    ///
    /// @param to null for the socket's peer
    /// @return false if it is lost
    boolean offer(Buffer message, @Nullable SocketAddress to) {
        int result = queue.isEmpty() ? trySend(message, to) : -Errno.EAGAIN;
        if (result != -Errno.EAGAIN) {
            return isSent(result);
        }
        boolean queued = queue.offer(message, to);
        dropped.add(queued ? 0 : 1);
        return queued;
    }

    /// Sends what the kernel takes of what is queued.
    ///
    /// @param most how many messages to try
    void flush(int most) {
        MessageQueue.Waiting first = queue.first();
        for (int i = 0; i < most && first != null; i++) {
            int result = trySend(first.message(), first.to());
            if (result == -Errno.EAGAIN) {
                return;
            }
            boolean _ = isSent(result);
            queue.removeFirst();
            first = queue.first();
        }
    }

    /// Sends it. If the kernel tells of an earlier message instead, of which it learned by now that it reached nobody,
    /// tells of that and tries again.
    private int trySend(Buffer message, @Nullable SocketAddress to) {
        int result = exchange.send(socket, family, message, to);
        if (result == -Errno.ECONNREFUSED && family != Linux.AF_UNIX) {
            tell(result);
            result = exchange.send(socket, family, message, to);
        }
        return result;
    }

    private boolean isSent(int result) {
        if (result >= 0) {
            sent.add(1);
        } else if (result == -Errno.ENOBUFS) {
            dropped.add(1); // The network card is behind, and nobody tells when it no longer is.
        } else {
            tell(result);
        }
        return result >= 0;
    }

    private void tell(int result) {
        onFailure.accept(new SystemCallException("sendmsg", -result, socket.fd()));
    }

    void clear() {
        dropped.add(queue.size());
        queue.clear();
    }
}
