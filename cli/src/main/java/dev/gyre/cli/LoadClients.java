package dev.gyre.cli;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.IntConsumer;

/// Many connections to one server, each with at most one message in flight.
///
/// Loop thread only.
final class LoadClients {
    /// The number of concurrent connection attempts, below the size of a server's backlog.
    private static final int CONCURRENT_CONNECTS = 256;

    private final EventLoop loop;
    private final LoadKind kind;
    private final SocketAddress server;
    private final LoadClient[] clients;
    private final Buffer message = Buffer.allocate(EchoLoadClient.MESSAGE_BYTES);
    private final Deferred<@Nullable Void> allConnected;
    private final IntConsumer progress;

    private int started;
    private int connected;
    private boolean disconnecting;
    private final Map<CloseReason, Integer> dropped = new EnumMap<>(CloseReason.class);

    /// @param progress receives the number of connections after each new one
    LoadClients(
            EventLoop loop, LoadKind kind, SocketAddress server, int count, IntConsumer progress) {
        this.loop = loop;
        this.kind = kind;
        this.server = server;
        this.progress = progress;
        clients = new LoadClient[count];
        allConnected = loop.deferred();
    }

    /// Connects all clients; rejects if one cannot connect.
    Promise<@Nullable Void> connect() {
        for (int i = 0; i < CONCURRENT_CONNECTS; i++) {
            connectNext();
        }
        return allConnected.promise();
    }

    private void connectNext() {
        if (started == clients.length || allConnected.promise().isSettled()) {
            return;
        }
        int index = started++;
        Promise<@Nullable Void> _ =
                Stream.connect(loop, server)
                        .then(
                                stream -> {
                                    onConnected(index, stream);
                                    return null;
                                },
                                failure -> {
                                    allConnected.reject(failure);
                                    return null;
                                });
    }

    private void onConnected(int index, Stream stream) {
        if (disconnecting) {
            stream.abort();
            return;
        }
        LoadClient client = kind.client(index, this);
        clients[index] = client;
        client.attach(stream);
        connected++;
        progress.accept(connected);
        if (connected == clients.length) {
            allConnected.resolve(null);
        } else {
            connectNext();
        }
    }

    int size() {
        return clients.length;
    }

    LoadClient client(int index) {
        return clients[index];
    }

    EventLoop loop() {
        return loop;
    }

    /// Returns the shared buffer, empty, for one write.
    Buffer message() {
        return message.clear();
    }

    void lost(CloseReason reason) {
        if (!disconnecting) {
            dropped.merge(reason, 1, Integer::sum);
        }
    }

    /// Returns the number of connections that closed unexpectedly.
    int dropped() {
        return dropped.values().stream().mapToInt(Integer::intValue).sum();
    }

    /// Returns the same by reason.
    Map<CloseReason, Integer> droppedBy() {
        return dropped;
    }

    /// Resets all connections: closed normally, their sockets would stay in TIME_WAIT for a minute.
    void disconnect() {
        disconnecting = true;
        for (LoadClient client : clients) {
            if (client != null) {
                client.disconnect();
            }
        }
    }
}
