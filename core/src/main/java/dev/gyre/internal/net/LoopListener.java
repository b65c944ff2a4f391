package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
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

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Admits the connections that its [Acceptor] accepts, passes them to the handler, and counts and
/// drains them.
///
/// Loop thread only, except `close` and the methods for a group, which say so.
public final class LoopListener implements Listener, ConnectionLimit.Waiter {
    final ListenerSlot slot;
    final Streams streams;
    private final OpenDescriptor socket;
    private final SocketAddress address;
    private final ListenerConfig config;
    private final Consumer<? super Stream> handler;
    final Acceptor acceptor;
    private final NativeBytes addressMemory = NativeBytes.allocate(NativeSockets.ADDRESS_BYTES);

    // Set by drain().
    @Nullable Deferred<DrainReport> drained;
    private @Nullable Timer drainDeadline;
    private int connectionsAtDrain;
    private int resetCount;

    private LoopListener(
            Streams streams,
            OpenDescriptor socket,
            ListenerConfig config,
            Consumer<? super Stream> handler,
            ListenerSlot slot) {
        this.streams = streams;
        this.socket = socket;
        this.config = config;
        this.handler = handler;
        this.slot = slot;
        address = NativeSockets.localAddress(streams.operations().syscalls(), socket);
        acceptor = new Acceptor(streams, socket, config, this);
    }

    public static LoopListener open(
            EventLoop loop,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> handler) {
        check(address, config, handler);
        Streams streams = Streams.on(loop, "Listener.on");
        OpenDescriptor socket =
                SocketSettings.of(config).listen(streams.operations().syscalls(), address);
        ConnectionLimit limit =
                new ConnectionLimit(config.maxConnections(), config.maxConnectionsPerPeer());
        return open(streams, socket, config, handler, new ListenerSlot(limit, 0, null, null), 0);
    }

    /// Opens the listener of a group on one of its loops.
    ///
    /// @param suspended the reasons of [Acceptor] for which it does not accept yet
    static LoopListener open(
            EventLoop loop,
            OpenDescriptor socket,
            ListenerConfig config,
            Consumer<? super Stream> handler,
            ListenerSlot slot,
            int suspended) {
        try {
            Streams streams = Streams.on(loop, "Listener.on");
            return open(streams, socket, config, handler, slot, suspended);
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static LoopListener open(
            Streams streams,
            OpenDescriptor socket,
            ListenerConfig config,
            Consumer<? super Stream> handler,
            ListenerSlot slot,
            int suspended) {
        try {
            LoopListener listener = new LoopListener(streams, socket, config, handler, slot);
            streams.add(listener);
            listener.acceptor.suspend(suspended);
            slot.listener = listener;
            return listener;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    static void check(
            SocketAddress address, ListenerConfig config, Consumer<? super Stream> handler) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(handler, "accepted");
        Tls tls = config.streams().tls();
        if (tls != null) {
            TlsSetup.of(tls).requireServer();
        }
    }

    // ------------------------------------------------------------------ serving

    /// Serves an accepted connection that has a permit, on this or another loop of the group.
    void place(OpenDescriptor accepted) {
        LoopGroupListener group = slot.group;
        if (group == null) {
            serve(accepted);
        } else {
            group.place(accepted, this);
        }
    }

    /// Serves an accepted connection that has a permit.
    void serve(OpenDescriptor accepted) {
        long _ = slot.add(ListenerSlot.CONNECTIONS, 1);
        serveCounted(accepted);
    }

    /// Serves an accepted connection that has a permit and counts in the slot already.
    void serveCounted(OpenDescriptor accepted) {
        Connection connection = admit(accepted);
        if (connection == null) {
            return;
        }
        if (!slot.lowMemory && streams.operations().pool().isNearLimit()) {
            setLowMemory(true);
            streams.operations().pool().whenAvailable(() -> setLowMemory(false));
        }
        start(connection);
    }

    /// Returns the connection, or null if it is not served. Its descriptor is then closed, its
    /// permit released and its count undone, even if this throws: the slot outlives the loop.
    private @Nullable Connection admit(OpenDescriptor accepted) {
        SocketAddress limited = null;
        Connection connection = null;
        try {
            SocketAddress peer = peerOf(accepted);
            if (peer != null && slot.limit.acquireOf(peer)) {
                limited = peer;
                connection = new Connection(streams, accepted, peer, peer, config.streams(), this);
                long _ = slot.add(ListenerSlot.ACCEPTED, 1);
            } else if (peer != null) {
                countRefused();
            }
            return connection;
        } finally {
            if (connection == null) {
                long _ = slot.add(ListenerSlot.CONNECTIONS, -1);
                accepted.close();
                slot.limit.release(limited);
            }
        }
    }

    /// Resets an accepted connection that has a permit and that no loop serves.
    void refuse(OpenDescriptor accepted) {
        slot.limit.release();
        refuseWaiting(accepted);
        reportIfDrained();
    }

    /// Resets an accepted connection that no loop serves and that has no permit.
    void refuseWaiting(OpenDescriptor accepted) {
        acceptor.reject(accepted);
        countRefused();
    }

    private void countRefused() {
        long _ = slot.add(ListenerSlot.ACCEPTED, 1);
        long _ = slot.add(ListenerSlot.REFUSED, 1);
        streams.operations().streamCounters().refused.add(1);
        JfrEvents.connectionRefused(loop().config().name(), address, "limit");
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
                                failure -> {
                                    handshakeFailed(connection, failure);
                                    return null;
                                });
    }

    /// The stream is closed and counted already. An exception of the callback reaches the loop.
    private void handshakeFailed(Connection connection, Throwable failure) {
        BiConsumer<? super SocketAddress, ? super Throwable> callback = config.onHandshakeFailed();
        if (callback != null) {
            streams.notifyLater(() -> callback.accept(connection.peer, failure));
        }
    }

    private static Promise<TlsSession> secured(Connection connection, Tls tls) {
        try {
            return connection.stream.startTls(tls);
        } catch (RuntimeException | Error e) {
            connection.lifecycle.close(
                    CloseReason.TLS_HANDSHAKE_FAILED, e); // Not seen by the handler.
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

    /// Releases the permit of a closed connection. Called on the connection's loop.
    void connectionClosed(Connection connection) {
        try {
            slot.limit.release(connection.peer);
        } finally {
            connectionGone(connection);
        }
    }

    /// The connection is closed, or another listener counts it. Called on the connection's loop.
    void connectionGone(Connection connection) {
        long _ = slot.add(ListenerSlot.CONNECTIONS, -1);
        boolean _ = slot.movedAway.remove(connection);
        LoopListener current = slot.current(); // It may have replaced this one.
        if (current.streams == connection.streams) {
            current.countChanged();
        } else {
            current.streams.operations().onLoop(current::countChanged);
        }
    }

    private void countChanged() {
        if (!streams.isClosed()) {
            reportIfDrained();
            acceptor.connectionClosed();
        }
    }

    /// Any thread.
    @Override
    public boolean offerPlace() {
        return trySubmit(new InternalTask(acceptor::onPlace));
    }

    // ------------------------------------------------------------------ group

    /// Submits an action, which is skipped if the loop shuts down before. Any thread.
    void submit(Runnable action) {
        boolean _ =
                trySubmit(
                        new InternalTask(
                                () -> {
                                    if (isAccepting()) {
                                        action.run();
                                    }
                                }));
    }

    /// Submits a task, which runs even if the loop fails. Any thread.
    ///
    /// @return false if the loop is terminated
    boolean trySubmit(InternalTask task) {
        return loop().trySubmitPriority(task);
    }

    Loop loop() {
        return streams.loop();
    }

    /// Returns whether the listener is open and its loop is not shutting down. Any thread.
    boolean isAccepting() {
        return socket.isOpen() && !loop().isShuttingDown();
    }

    /// The loops of a group accept while one of them has memory.
    private void setLowMemory(boolean low) {
        slot.lowMemory = low;
        if (slot.group == null) {
            setSuspended(Acceptor.LOW_MEMORY, low);
        } else {
            slot.group.memoryChanged();
        }
    }

    void setSuspended(int reason, boolean suspended) {
        if (suspended) {
            acceptor.suspend(reason);
        } else {
            acceptor.resume(reason);
        }
    }

    // ------------------------------------------------------------------ Listener

    @Override
    public SocketAddress address() {
        return address;
    }

    @Override
    public void pause() {
        streams.requireConfined("pause");
        setSuspended(Acceptor.PAUSED, true);
    }

    @Override
    public void resume() {
        streams.requireConfined("resume");
        setSuspended(Acceptor.PAUSED, false);
    }

    @Override
    public int connections() {
        return slot.connections();
    }

    @Override
    public long accepted() {
        return slot.get(ListenerSlot.ACCEPTED) + slot.get(ListenerSlot.SHED);
    }

    @Override
    public long refused() {
        return slot.get(ListenerSlot.REFUSED);
    }

    @Override
    public long shed() {
        return slot.get(ListenerSlot.SHED);
    }

    @Override
    public boolean isExhausted() {
        return acceptor.isExhausted() || slot.limit.isFull();
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
            if (slot.group == null) {
                SocketSettings.removeFile(address);
            }
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
            connectionsAtDrain = connections();
            drainDeadline = streams.loop().after(deadline, _ -> resetOpen());
            reportIfDrained();
        } else if (drainDeadline != null) {
            long left = drainDeadline.deadlineNanos() - streams.loop().nowNanos(); // overflow-safe
            if (deadline.compareTo(Duration.ofNanos(left)) < 0) {
                drainDeadline.reschedule(deadline);
            }
        }
        return report.promise();
    }

    private void resetOpen() {
        resetCount = streams.resetAcceptedBy(this);
        reportIfDrained();
    }

    /// Resolves the report of [#drain] once there are no connections left.
    void reportIfDrained() {
        Deferred<DrainReport> report = drained;
        if (report != null && connections() == 0) {
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
        return "Listener[" + address + ", " + connections() + " connections]";
    }
}
