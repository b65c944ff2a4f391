package dev.gyre.http.internal.client;

import dev.gyre.LoopOverloadedException;
import dev.gyre.Promise;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.http.internal.message.Origin;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The connections to one origin, and the exchanges that wait for one of them, in order.
///
/// An exchange uses an idle connection, or waits. Up to the limit, one connection is opened for
/// each waiting exchange. The connection that is free first carries the exchange that waits
/// longest.
///
/// A connection that cannot be opened fails no exchange while others may become free. Opening is
/// retried when a connection is gone, or another exchange arrives.
///
/// Loop thread only.
final class ConnectionPool {
    private final LoopClient client;
    private final Origin origin;

    private final Set<ClientConnection> connections = new LinkedHashSet<>();

    /// The connection used last is used next, so that surplus connections become idle and close.
    private final ArrayDeque<ClientConnection> idle = new ArrayDeque<>();

    private final LinkedHashSet<ClientExchange> waiting = new LinkedHashSet<>();

    /// Connections being opened for any exchange.
    private int opening;

    /// Connections being opened for a certain exchange.
    private int reopening;

    /// Connections that could not be opened, since one last could.
    private int failures;

    ConnectionPool(LoopClient client, Origin origin) {
        this.client = client;
        this.origin = origin;
    }

    HttpClientConfig config() {
        return client.config();
    }

    Origin origin() {
        return origin;
    }

    int connections() {
        return connections.size();
    }

    /// Carries an exchange now or later, or rejects it if too many wait.
    void execute(ClientExchange exchange) {
        ClientConnection free = pollIdle();
        if (free != null) {
            free.carry(exchange);
            return;
        }
        if (waiting.size() - opening >= config().maxPending()) {
            exchange.reject(
                    new LoopOverloadedException(
                            config().maxPending()
                                    + " requests to "
                                    + origin
                                    + " are already waiting: retry later, or raise"
                                    + " HttpClientConfig.withMaxPending or withMaxConnections"));
            return;
        }
        waiting.add(exchange);
        openMore();
    }

    private @Nullable ClientConnection pollIdle() {
        ClientConnection free = idle.pollLast();
        while (free != null && !free.isOpen()) {
            free = idle.pollLast(); // Its onClose follows.
        }
        return free;
    }

    /// Removes an exchange that no longer waits.
    void forget(ClientExchange exchange) {
        waiting.remove(exchange);
        removeIfUnused();
    }

    /// Retries an exchange on a new connection: idle ones may be closed too.
    void retry(ClientConnection gone, ClientExchange exchange) {
        connections.remove(gone);
        idle.remove(gone);
        open(exchange);
        openMore();
    }

    private void openMore() {
        while (waiting.size() > opening
                && connections.size() + opening + reopening < config().maxConnections()) {
            open(null);
        }
    }

    /// @param exchange the one that the connection is for; null for any
    private void open(@Nullable ClientExchange exchange) {
        count(exchange, 1);
        SocketAddress fixed = config().address();
        SocketAddress to = fixed == null ? origin.address() : fixed;
        try {
            Promise<@Nullable Void> _ =
                    Stream.connect(client.loop(), to, client.streams(origin))
                            .then(
                                    stream -> {
                                        opened(stream, exchange);
                                        return null;
                                    },
                                    failure -> {
                                        openFailed(failure, exchange);
                                        return null;
                                    });
        } catch (RuntimeException e) {
            openFailed(e, exchange); // The loop is terminating.
        }
    }

    private void count(@Nullable ClientExchange exchange, int change) {
        if (exchange == null) {
            opening += change;
        } else {
            reopening += change;
        }
    }

    private void opened(Stream stream, @Nullable ClientExchange exchange) {
        if (!stream.isOpen()) {
            CloseReason why = stream.closeReason();
            openFailed(
                    new StreamClosedException(
                            origin
                                    + " closed the connection before the request was sent: check"
                                    + " that it accepts connections from here",
                            why == null ? CloseReason.CLOSED : why,
                            stream.failure()),
                    exchange);
            return;
        }
        count(exchange, -1);
        failures = 0;
        if (client.isClosed()) {
            stream.abort();
            removeIfUnused();
            return;
        }
        ClientConnection connection = new ClientConnection(this, stream, client.newReader());
        connections.add(connection);
        stream.protocol(connection);
        if (exchange != null && exchange.isPending()) {
            connection.carry(exchange);
        } else {
            release(connection);
        }
    }

    private void openFailed(Throwable failure, @Nullable ClientExchange exchange) {
        count(exchange, -1);
        failures++;
        if (exchange != null && exchange.isPending()) {
            exchange.setConnection(null);
            waiting.addFirst(exchange);
        }
        if (!connections.isEmpty()) {
            failures = 0;
            ClientConnection free = waiting.isEmpty() ? null : pollIdle();
            if (free != null) {
                free.carry(waiting.removeFirst());
            }
        } else if (opening + reopening == 0) {
            rejectFailed(failure);
            openMore();
        }
        removeIfUnused();
    }

    /// Rejects as many exchanges as connections failed: none is left to wait for.
    private void rejectFailed(Throwable failure) {
        int failed = failures;
        failures = 0;
        for (int i = 0; i < failed && !waiting.isEmpty(); i++) {
            waiting.removeFirst().reject(failure);
        }
    }

    /// Reuses a free connection, or keeps it.
    void release(ClientConnection connection) {
        if (waiting.isEmpty()) {
            connection.becomeIdle();
            idle.addLast(connection);
        } else {
            connection.carry(waiting.removeFirst());
        }
    }

    /// Removes a connection that is no longer used. Idempotent.
    void remove(ClientConnection connection) {
        if (connections.remove(connection)) {
            idle.remove(connection);
            openMore();
            removeIfUnused();
        }
    }

    private void removeIfUnused() {
        if (connections.isEmpty() && waiting.isEmpty() && opening + reopening == 0) {
            client.remove(origin);
        }
    }

    /// Closes all connections. The exchanges have been rejected.
    void close() {
        waiting.clear();
        List.copyOf(connections).forEach(ClientConnection::abandon);
    }
}
