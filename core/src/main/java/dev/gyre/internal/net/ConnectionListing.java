package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Stream;
import dev.gyre.metrics.ConnectionInfo;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;

/// Lists the connections of a loop, a bounded number per tick. Connections may close between two
/// ticks: [Streams] reports each removal.
///
/// Loop thread only.
public final class ConnectionListing {
    /// Connections per tick.
    static final int BATCH = 256;

    private final Streams streams;
    private final Deferred<List<ConnectionInfo>> outcome;
    private final List<ConnectionInfo> found = new ArrayList<>();

    /// The next connection to visit; null at the end.
    private @Nullable Connection next;

    private ConnectionListing(Streams streams) {
        this.streams = streams;
        outcome = streams.loop().deferred();
        next = streams.first();
    }

    /// See [EventLoop#connections()]. Any thread.
    public static CompletionStage<List<ConnectionInfo>> of(EventLoop loop) {
        Loop of = Loop.of(loop);
        return of.callPriority(() -> begin(of));
    }

    private static Promise<List<ConnectionInfo>> begin(Loop loop) {
        Streams streams = loop.owned(Streams.class);
        if (streams == null) {
            return Promise.resolved(loop, List.of());
        }
        ConnectionListing list = new ConnectionListing(streams);
        streams.add(list);
        loop.defer(list::visit);
        return list.outcome.promise();
    }

    private void visit() {
        try {
            for (int i = 0; i < BATCH && next != null; i++) {
                Connection current = next;
                next = current.next;
                found.add(infoOf(current));
            }
            if (next != null) {
                streams.loop().defer(this::visit);
            } else {
                streams.remove(this);
                boolean _ = outcome.resolve(Collections.unmodifiableList(found));
            }
        } catch (RuntimeException e) {
            streams.remove(this);
            boolean _ = outcome.reject(e);
        }
    }

    private static ConnectionInfo infoOf(Connection connection) {
        Stream stream = connection.stream;
        return new ConnectionInfo(
                connection.id,
                connection.loop().config().name(),
                connection.peer,
                stream.localAddress(),
                stream.state(),
                stream.outputState(),
                connection.timeouts.age(),
                connection.timeouts.idle(),
                stream.received(),
                stream.sent(),
                stream.pending(),
                connection.isSecured(),
                connection.timeouts.next(),
                connection.input.activity());
    }

    /// Advances the cursor before a connection is removed.
    @SuppressWarnings("ReferenceEquality") // compares identity
    void beforeRemove(Connection connection) {
        if (next == connection) {
            next = connection.next;
        }
    }
}
