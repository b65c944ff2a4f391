package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.CloseReason;
import dev.gyre.io.DrainReport;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.Tls;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/// Admits the connections that its [Acceptor] accepts, passes them to the handler, and counts and
/// drains them.
///
/// Loop thread only, except `close`.
public final class LoopListener implements Listener {
    private final Streams streams;
    private final OpenDescriptor socket;
    private final SocketAddress address;
    private final ListenerConfig config;
    private final Consumer<? super Stream> handler;
    private final Acceptor acceptor;
    private final NativeBytes addressMemory = NativeBytes.allocate(NativeSockets.ADDRESS_BYTES);
    private final Map<InetAddress, Integer> perPeer = new HashMap<>();

    private int connections;

    /// Accepted connections, without those that the acceptor has shed.
    private long acceptedCount;

    private long refused;

    // Set by drain().
    private @Nullable Deferred<DrainReport> drained;
    private @Nullable Timer drainDeadline;
    private int connectionsAtDrain;
    private int resetCount;

    private LoopListener(
            Streams streams,
            OpenDescriptor socket,
            ListenerConfig config,
            Consumer<? super Stream> handler) {
        this.streams = streams;
        this.socket = socket;
        this.config = config;
        this.handler = handler;
        address = NativeSockets.localAddress(streams.operations().syscalls(), socket);
        acceptor = new Acceptor(streams, socket, config.backlog(), this);
    }

    public static LoopListener open(
            EventLoop loop,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> handler) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(handler, "accepted");
        Tls tls = config.streams().tls();
        if (tls != null) {
            TlsSetup.of(tls).requireServer();
        }
        Streams streams = Streams.on(loop, "Listener.on");
        OpenDescriptor socket =
                SocketSettings.of(config).listen(streams.operations().syscalls(), address);
        try {
            LoopListener listener = new LoopListener(streams, socket, config, handler);
            streams.add(listener);
            listener.acceptor.update();
            return listener;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    void serve(OpenDescriptor accepted) {
        SocketAddress peer = peerOf(accepted);
        if (peer == null) {
            accepted.close();
            return;
        }
        acceptedCount++;
        if (!admits(peer)) {
            accepted.close();
            refused++;
            streams.operations().streamCounters().refused.add(1);
            return;
        }
        Connection connection =
                new Connection(streams, accepted, peer, peer, config.streams(), this);
        connections++;
        connection.lifecycle.addCloseListener(this::connectionClosed);
        if (connections >= config.maxConnections()) {
            acceptor.suspend(Acceptor.FULL);
        }
        if (streams.operations().pool().isNearLimit()) {
            acceptor.suspend(Acceptor.LOW_MEMORY);
            streams.operations().pool().whenAvailable(() -> acceptor.resume(Acceptor.LOW_MEMORY));
        }
        start(connection);
    }

    private void start(Connection connection) {
        Tls tls = config.streams().tls();
        if (tls == null) {
            deliver(connection);
            return;
        }
        Promise<@Nullable Void> _ =
                secured(connection, tls)
                        .then(
                                _ -> {
                                    deliver(connection);
                                    return null;
                                },
                                _ -> null); // The stream is closed and counted already.
    }

    private static Promise<TlsSession> secured(Connection connection, Tls tls) {
        try {
            return connection.stream.startTls(tls);
        } catch (RuntimeException | Error e) {
            connection.lifecycle.close(CloseReason.TLS_FAILED, e); // The handler has not seen it.
            throw e;
        }
    }

    private void deliver(Connection connection) {
        try {
            handler.accept(connection.stream);
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    private @Nullable SocketAddress peerOf(OpenDescriptor accepted) {
        try {
            return NativeSockets.peerAddress(
                    streams.operations().syscalls(), accepted, addressMemory);
        } catch (SystemCallException e) {
            return null; // The peer has reset it.
        }
    }

    private boolean admits(SocketAddress peer) {
        if (config.maxConnectionsPerPeer() == Integer.MAX_VALUE
                || !(peer instanceof InetSocketAddress of)) {
            return true;
        }
        int others = perPeer.getOrDefault(of.getAddress(), 0);
        if (others >= config.maxConnectionsPerPeer()) {
            return false;
        }
        perPeer.put(of.getAddress(), others + 1);
        return true;
    }

    private void connectionClosed(Connection connection) {
        connections--;
        if (streams.isClosed()) {
            return;
        }
        reportIfDrained();
        if (config.maxConnectionsPerPeer() != Integer.MAX_VALUE
                && connection.peer instanceof InetSocketAddress of) {
            perPeer.computeIfPresent(of.getAddress(), (_, count) -> count == 1 ? null : count - 1);
        }
        if (acceptor.isSuspendedFor(Acceptor.FULL) && connections < config.maxConnections()) {
            acceptor.resume(Acceptor.FULL);
        }
        acceptor.connectionClosed();
    }

    @Override
    public SocketAddress address() {
        return address;
    }

    @Override
    public void pause() {
        streams.requireConfined("pause");
        acceptor.suspend(Acceptor.PAUSED);
    }

    @Override
    public void resume() {
        streams.requireConfined("resume");
        acceptor.resume(Acceptor.PAUSED);
    }

    @Override
    public int connections() {
        return connections;
    }

    @Override
    public long accepted() {
        return acceptedCount + acceptor.shed();
    }

    @Override
    public long refused() {
        return refused;
    }

    @Override
    public long shed() {
        return acceptor.shed();
    }

    @Override
    public boolean isExhausted() {
        return acceptor.isExhausted();
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    @Override
    public void close() {
        StackReserve.requireLarge(); // Nothing closes the rest if the second step fails.
        if (socket.isOpen()) {
            socket.close();
            SocketSettings.removeFile(address);
            streams.operations().onLoop(this::onClosed);
        }
    }

    @Override
    public Promise<DrainReport> drain(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        streams.requireConfined("drain");
        Deferred<DrainReport> report = drained;
        if (report == null) {
            report = streams.loop().deferred();
            drained = report;
            close();
            connectionsAtDrain = connections;
            drainDeadline =
                    streams.loop().after(deadline, _ -> resetCount = streams.resetAcceptedBy(this));
            reportIfDrained();
        } else if (drainDeadline != null) {
            long left = drainDeadline.deadlineNanos() - streams.loop().nowNanos(); // overflow-safe
            if (deadline.compareTo(Duration.ofNanos(left)) < 0) {
                drainDeadline.reschedule(deadline);
            }
        }
        return report.promise();
    }

    private void reportIfDrained() {
        Deferred<DrainReport> report = drained;
        if (report != null && connections == 0) {
            if (drainDeadline != null) {
                drainDeadline.cancel();
                drainDeadline = null;
            }
            report.resolve(new DrainReport(connectionsAtDrain - resetCount, resetCount));
        }
    }

    private void onClosed() {
        streams.remove(this);
        acceptor.onClosed();
    }

    @Override
    public String toString() {
        return "Listener[" + address + ", " + connections + " connections]";
    }
}
