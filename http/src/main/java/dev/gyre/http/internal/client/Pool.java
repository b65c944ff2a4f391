package dev.gyre.http.internal.client;

import dev.gyre.LoopOverloadedException;
import dev.gyre.Promise;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The connections to one origin, and the calls that wait for one of them, first come, first served.
///
/// A call takes a connection that is kept, or waits. As long as there may be more connections, one is opened for
/// each call that waits, but whichever is free first takes the call that has waited longest. Where connections are
/// kept no call waits.
///
/// That one could not be opened costs no call, as long as there are others to wait for. It is tried again when there
/// is another reason to: when one is gone, or one more call comes.
///
/// Loop thread only.
final class Pool {
    private final LoopClient client;
    private final Origin origin;

    private final Set<ClientConnection> connections = new LinkedHashSet<>();

    /// The one that was used last is used next, so that those become old of which there are too many.
    private final ArrayDeque<ClientConnection> kept = new ArrayDeque<>();

    private final LinkedHashSet<ClientCall> waiting = new LinkedHashSet<>();

    /// Connections on their way to whoever waits.
    private int opening;

    /// Connections on their way to a certain call.
    private int reopening;

    /// Connections that could not be opened since one could, while others were on their way.
    private int notOpened;

    Pool(LoopClient client, Origin origin) {
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

    // ------------------------------------------------------------------ calls

    /// Has a call carried, at once or later; rejects it if too many wait.
    void take(ClientCall call) {
        ClientConnection free = freeOne();
        if (free != null) {
            free.carry(call);
            return;
        }
        if (waiting.size() - opening >= config().maxWaiting()) {
            call.reject(
                    new LoopOverloadedException(
                            config().maxWaiting()
                                    + " requests to "
                                    + origin
                                    + " wait already (HttpClientConfig.withMaxWaiting)"));
            return;
        }
        waiting.add(call);
        openMore();
    }

    private @Nullable ClientConnection freeOne() {
        ClientConnection free = kept.pollLast();
        while (free != null && !free.isOpen()) {
            free = kept.pollLast(); // It is about to hear of its end.
        }
        return free;
    }

    private boolean isFull() {
        return connections.size() + opening + reopening >= config().maxConnections();
    }

    /// A call does not wait any more.
    void forget(ClientCall call) {
        waiting.remove(call);
        retireIfUnused();
    }

    /// Sends a call again whose connection was found closed: on a new one, as those that are kept may be as old.
    void again(ClientConnection gone, ClientCall call) {
        connections.remove(gone);
        kept.remove(gone);
        open(call);
        openMore();
    }

    // ------------------------------------------------------------------ opening

    private void openMore() {
        while (waiting.size() > opening && !isFull()) {
            open(null);
        }
    }

    /// @param call that it is for; null for whoever waits
    private void open(@Nullable ClientCall call) {
        count(call, 1);
        try {
            Promise<@Nullable Void> _ =
                    Stream.connect(client.loop(), origin.address(), client.streams(origin))
                            .then(
                                    stream -> {
                                        opened(stream, call);
                                        return null;
                                    },
                                    failure -> {
                                        notOpened(failure, call);
                                        return null;
                                    });
        } catch (RuntimeException e) {
            // The loop is ending.
            notOpened(e, call);
        }
    }

    private void count(@Nullable ClientCall call, int change) {
        if (call == null) {
            opening += change;
        } else {
            reopening += change;
        }
    }

    private void opened(Stream stream, @Nullable ClientCall call) {
        if (!stream.isOpen()) {
            CloseReason why = stream.closeReason();
            notOpened(
                    new StreamClosedException(
                            origin + " closed the connection at once",
                            why == null ? CloseReason.CLOSED : why,
                            stream.failure()),
                    call);
            return;
        }
        count(call, -1);
        notOpened = 0;
        if (client.isClosed()) {
            stream.abort();
            retireIfUnused();
            return;
        }
        ClientConnection connection = new ClientConnection(this, stream, client.reader());
        connections.add(connection);
        stream.protocol(connection);
        if (call != null && call.isPending()) {
            connection.carry(call);
        } else {
            kept(connection);
        }
    }

    private void notOpened(Throwable failure, @Nullable ClientCall call) {
        count(call, -1);
        notOpened++;
        if (call != null && call.isPending()) {
            call.carriedByNobody();
            waiting.addFirst(call);
        }
        if (!connections.isEmpty()) {
            notOpened = 0;
            ClientConnection free = waiting.isEmpty() ? null : freeOne();
            if (free != null) {
                free.carry(waiting.removeFirst());
            }
        } else if (opening + reopening == 0) {
            rejectAsManyAsFailed(failure);
            openMore();
        }
        retireIfUnused();
    }

    /// Nobody is left to wait for.
    private void rejectAsManyAsFailed(Throwable failure) {
        int failed = notOpened;
        notOpened = 0;
        for (int i = 0; i < failed && !waiting.isEmpty(); i++) {
            boolean _ = waiting.removeFirst().reject(failure);
        }
    }

    // ------------------------------------------------------------------ connections

    /// A connection has nothing to carry.
    void kept(ClientConnection connection) {
        if (waiting.isEmpty()) {
            connection.rest();
            kept.addLast(connection);
        } else {
            connection.carry(waiting.removeFirst());
        }
    }

    /// A connection carries nothing any more. Twice is safe.
    void gone(ClientConnection connection) {
        if (connections.remove(connection)) {
            kept.remove(connection);
            openMore();
            retireIfUnused();
        }
    }

    private void retireIfUnused() {
        if (connections.isEmpty() && waiting.isEmpty() && opening + reopening == 0) {
            client.retire(origin);
        }
    }

    /// Drops all connections. The calls have been rejected.
    void close() {
        waiting.clear();
        List.copyOf(connections).forEach(ClientConnection::abandon);
    }
}
