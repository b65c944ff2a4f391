package dev.gyre.cli;

import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopTerminatedException;
import dev.gyre.http.HttpMetrics;
import dev.gyre.io.Datagram;
import dev.gyre.io.DrainReport;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/// Runs a server of streams or datagrams.
final class StreamServerRunner extends ServerRunner {
    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(5);

    private final ServerStats stats = new ServerStats();

    // Shared: outgoing connections of all loops, which drain together with the accepted ones.
    private final Set<Stream> outgoing = ConcurrentHashMap.newKeySet();

    // Shared: written by the loop that drained last.
    private volatile boolean drained;

    // Set before the loops start.
    private @Nullable GroupListener listener;
    private @Nullable Datagram socket;

    // First loop's thread only.
    private volatile boolean stopsNow;

    private StreamServerRunner(LoopGroup group, ServerLog log) {
        super(group, log);
    }

    /// Opens loops and runs the body on them.
    ///
    /// @param body returns the exit status
    static int open(
            ServerLog log, LoopConfig config, int loops, ToIntFunction<StreamServerRunner> body) {
        return open(
                log, loops, config, group -> body.applyAsInt(new StreamServerRunner(group, log)));
    }

    /// Serves connections.
    ///
    /// @param announcement with a placeholder for the address, as in `Echo on %s`
    /// @return the exit status
    int serve(
            String announcement,
            SocketAddress where,
            ListenerConfig config,
            Consumer<? super Stream> accepted) {
        String transport =
                Addresses.transport(where) + (config.streams().tls() == null ? "" : ", TLS");
        return run(
                where,
                address -> {
                    GroupListener opened = Listener.on(group(), address, config, accepted);
                    listener = opened;
                    return () -> stats.text(opened);
                },
                () -> announce(announcement, listening().address(), transport));
    }

    private GroupListener listening() {
        GroupListener known = listener;
        if (known == null) {
            throw new IllegalStateException("the server does not listen");
        }
        return known;
    }

    /// Serves datagrams on the first loop.
    int serveDatagrams(String announcement, SocketAddress where, Consumer<? super Datagram> bound) {
        Datagram[] opened = new Datagram[1];
        return run(
                where,
                address -> {
                    Datagram made = Datagram.bind(first(), address);
                    socket = made;
                    opened[0] = made;
                    bound.accept(made);
                    return () -> ServerStats.text(made);
                },
                () -> announce(announcement, opened[0].address(), "UDP"));
    }

    private void announce(String announcement, SocketAddress address, String transport) {
        print(
                announcement.formatted(Addresses.show(address))
                        + " (%s, %s, %s). Press Ctrl-C to stop."
                                .formatted(
                                        transport,
                                        count(group().size(), "loop"),
                                        first().metrics().backend()));
    }

    /// Counts a client's connection in the summary. Loop thread of the stream.
    void count(Stream stream) {
        stats.opened();
        stream.onClose(reason -> stats.closed(stream, reason));
    }

    /// Adds an outgoing connection to those that the drain waits for. Loop thread of the stream.
    void addOutgoing(Stream stream) {
        outgoing.add(stream);
        stream.onClose(
                _ -> {
                    outgoing.remove(stream);
                    finishIfDrained();
                });
    }

    @Override
    @Nullable HttpMetrics httpMetrics() {
        return null;
    }

    @Override
    void drain() {
        GroupListener from = listener;
        if (from == null) {
            stopNow();
            return;
        }
        printDraining(from.connections(), DRAIN_TIMEOUT.toSeconds());
        CompletionStage<?> _ =
                from.drain(DRAIN_TIMEOUT)
                        .thenAccept(
                                _ -> {
                                    drained = true;
                                    if (stopsNow) {
                                        resetOutgoing();
                                    }
                                    finishIfDrained();
                                });
        first().after(DRAIN_TIMEOUT, _ -> resetOutgoing());
    }

    @Override
    void stopNow() {
        if (socket != null) {
            socket.close();
        }
        if (listener == null) {
            finish();
        } else {
            stopsNow = true;
            CompletionStage<DrainReport> _ = listener.drain(Duration.ZERO);
        }
    }

    private void resetOutgoing() {
        for (Stream each : List.copyOf(outgoing)) {
            try {
                each.loop().submitPriority(each::abort);
            } catch (LoopTerminatedException e) {
                outgoing.remove(each); // It was closed with its loop.
            }
        }
    }

    private void finishIfDrained() {
        if (drained && outgoing.isEmpty()) {
            finish();
        }
    }
}
