package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.internal.base.DeferredLog;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.tls.RecordScratch;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;
import dev.gyre.io.TlsSession;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/// The streams and listeners of one loop. Counts them, and closes them when the loop ends.
///
/// Loop thread only.
public final class Streams implements AutoCloseable {
    private static final int NOTIFICATION_BATCH = 256;
    private static final int MAX_LOGGED_PEERS = 5;
    private static final int IDS_PER_BLOCK = 1024;
    private static final AtomicLong ID_BLOCKS = new AtomicLong();

    private final Loop loop;
    private final LoopOperations operations;
    private final HandshakeExecutor handshakes;
    final TraceRecorder trace;
    private final RecordScratch records = new RecordScratch();
    private final List<LoopListener> listeners = new ArrayList<>();
    private final TaskRing notifications = new TaskRing("stream notifications");
    private boolean notificationsScheduled;
    private @Nullable Connection first;

    /// Lists of connections in progress.
    private final List<ConnectionListing> lists = new ArrayList<>();

    private long nextId;
    private long endOfIds;

    private boolean closed;

    private Streams(Loop loop) {
        this.loop = loop;
        operations = loop.operations();
        trace = loop.trace;
        handshakes = new HandshakeExecutor(loop, this::notifyLater);
    }

    /// Returns the streams of a loop, created at the first call.
    ///
    /// @param method the caller's name, for messages
    static Streams on(EventLoop of, String method) {
        Loop loop = Loop.of(of);
        loop.requireOpenWithStack(method);
        Streams known = loop.owned(Streams.class);
        if (known == null) {
            known = new Streams(loop);
            loop.own(known);
        }
        return known;
    }

    /// Returns the streams of a loop that a stream arrives on. The loop may be terminating.
    static Streams ofArrival(Loop loop) {
        Streams known = loop.owned(Streams.class);
        if (known == null) {
            known = new Streams(loop);
            if (loop.state() == LoopState.TERMINATED) {
                known.closed = true;
            } else {
                loop.own(known);
            }
        }
        return known;
    }

    Loop loop() {
        return loop;
    }

    LoopOperations operations() {
        return operations;
    }

    HandshakeExecutor handshakes() {
        return handshakes;
    }

    RecordScratch records() {
        return records;
    }

    void requireConfined(String method) {
        loop.requireConfinedWithStack(method);
    }

    IllegalStateException bufferMemoryExhausted() {
        return new IllegalStateException(
                "the loop's buffer memory is exhausted ("
                        + operations.pool().limit()
                        + " bytes): raise LoopConfig.withBufferMemory");
    }

    public static Promise<Stream> connect(EventLoop loop, SocketAddress to, StreamConfig config) {
        Objects.requireNonNull(to, "to");
        Objects.requireNonNull(config, "config");
        Tls tls = config.tls();
        if (tls != null) {
            TlsSetup.of(tls)
                    .requireClientOf(
                            to instanceof InetSocketAddress host ? host.getHostString() : null);
        }
        Streams streams = on(loop, "Stream.connect");
        Promise<Stream> connected =
                SocketConnector.connect(
                                loop,
                                to,
                                SocketSettings.of(config.socket()),
                                config.connectTimeout(),
                                config.resolver())
                        .then(socket -> streams.connected((OpenDescriptor) socket, to, config));
        return tls == null ? connected : connected.thenCompose(stream -> secure(stream, tls));
    }

    private Stream connected(OpenDescriptor socket, SocketAddress to, StreamConfig config) {
        try {
            // A name may have several addresses: ask the socket which one it is connected to.
            boolean isName = to instanceof InetSocketAddress internet && internet.isUnresolved();
            SocketAddress peer =
                    isName ? NativeSockets.peerAddress(operations.syscalls(), socket) : to;
            return new Connection(this, socket, peer, to, config, null).stream;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static Promise<Stream> secure(Stream stream, Tls tls) {
        try {
            return stream.startTls(tls).then(_ -> stream);
        } catch (Throwable e) {
            stream.abort(); // The caller has no reference to it.
            throw e;
        }
    }

    static Promise<TlsSession> startTls(Connection connection, Tls tls) {
        if (connection.isSecured()) {
            throw new IllegalStateException("TLS has already started on " + connection);
        }
        if (!connection.isOpen()) {
            return Promise.rejected(connection.loop(), connection.lifecycle.closedException());
        }
        if (connection.output.isEnding()) {
            throw new IllegalStateException(
                    "cannot start TLS on " + connection + " after end(): the handshake must send");
        }
        String host = null;
        int port = 0;
        if (connection.target instanceof InetSocketAddress to) {
            host = to.getHostString();
            port = to.getPort();
        }
        TlsEngine engine = TlsSetup.of(tls).newEngine(host, port, connection.streams.records);
        return connection.secure(engine, tls.handshakeTimeout());
    }

    /// Returns the id of a new connection. Loops share the counter of blocks only.
    long nextId() {
        if (nextId == endOfIds) {
            nextId = ID_BLOCKS.getAndIncrement() * IDS_PER_BLOCK + 1;
            endOfIds = nextId + IDS_PER_BLOCK;
        }
        return nextId++;
    }

    void add(Connection connection) {
        link(connection);
        operations.streamCounters().opened.add(1);
        if (connection.isTraced()) {
            connection.trace(Kind.OPENED, connection.describePeer());
        }
        LoopObserver observer = loop.config().observer();
        if (!LoopObserver.logging().equals(observer)) { // It ignores streams.
            notifyLater(() -> observer.onStreamOpened(connection.stream));
        }
    }

    void remove(Connection connection, CloseReason why) {
        unlink(connection);
        operations.streamCounters().closed(why);
        if (connection.isTraced()) {
            Throwable failure = connection.lifecycle.failure();
            connection.trace(
                    Kind.CLOSED,
                    failure == null ? why : why + ": " + TraceRecorder.describe(failure));
        }
        if (JfrEvents.isRecordingStarted()) {
            JfrEvents.connection(
                    loop.config().name(),
                    connection.id,
                    SocketAddresses.format(connection.peer),
                    why.name(),
                    connection.timeouts.age(),
                    connection.input.received(),
                    connection.stream.sent());
        }
    }

    /// Adds a connection that moved here from another loop.
    void arrived(Connection connection) {
        link(connection);
        operations.streamCounters().movedIn.add(1);
        connection.trace(Kind.MOVED, "arrived");
    }

    /// Removes a connection that moves to another loop. Does not throw: no loop would close it.
    void left(Connection connection) {
        unlink(connection);
        operations.streamCounters().movedOut.add(1);
        connection.trace(Kind.MOVED, "left for another loop");
    }

    private void link(Connection connection) {
        connection.next = first;
        if (first != null) {
            first.previous = connection;
        }
        first = connection;
    }

    private void unlink(Connection connection) {
        for (int i = 0; i < lists.size(); i++) {
            lists.get(i).beforeRemove(connection);
        }
        Connection before = connection.previous;
        Connection after = connection.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after != null) {
            after.previous = before;
        }
        connection.next = null;
        connection.previous = null;
    }

    @Nullable Connection first() {
        return first;
    }

    void add(ConnectionListing list) {
        lists.add(list);
    }

    void remove(ConnectionListing list) {
        lists.remove(list);
    }

    void add(LoopListener listener) {
        listeners.add(listener);
    }

    void remove(LoopListener listener) {
        listeners.remove(listener);
    }

    /// Moves up to `max` connections that a listener has accepted to another loop, idle ones first.
    void moveAcceptedBy(LoopListener listener, Loop target, int max) {
        List<Connection> idle = new ArrayList<>();
        List<Connection> active = new ArrayList<>();
        for (Connection each = first; each != null && idle.size() < max; each = each.next) {
            if (each.isAcceptedBy(listener)) {
                (each.isIdle() ? idle : active).add(each);
            }
        }
        idle.addAll(active);
        int left = max;
        for (int i = 0; i < idle.size() && left > 0; i++) {
            left -= StreamMove.tryStart(idle.get(i), target) ? 1 : 0;
        }
    }

    /// Resets and logs the open connections that a listener has accepted, and returns their number.
    int resetAcceptedBy(LoopListener listener) {
        List<Connection> accepted = new ArrayList<>();
        for (Connection each = first; each != null; each = each.next) {
            if (each.isAcceptedBy(listener)) {
                accepted.add(each);
            }
        }
        for (Connection each : accepted) {
            each.lifecycle.close(CloseReason.ABORTED, null);
        }
        for (Connection each : listener.slot.movedAway) {
            StreamMove.abort(each);
            accepted.add(each);
        }
        logReset("Draining of listener " + listener.address(), accepted);
        return accepted.size();
    }

    private static void logReset(String what, List<Connection> reset) {
        if (!reset.isEmpty()) {
            StringBuilder text = new StringBuilder(what);
            text.append(" ended, reset ").append(reset.size());
            text.append(reset.size() == 1 ? " stream" : " streams").append(" in progress: ");
            for (int i = 0; i < reset.size() && i < MAX_LOGGED_PEERS; i++) {
                text.append(i == 0 ? "" : ", ").append(reset.get(i).peer);
            }
            text.append(reset.size() > MAX_LOGGED_PEERS ? ", …" : "");
            DeferredLog.log(Level.WARNING, text::toString);
        }
    }

    /// Calls a user back outside any call of the user's, and before the loop waits again.
    ///
    /// One microtask delivers many notifications. With one microtask each, ten thousand streams
    /// that close together would exceed the microtask budget and look like an endless chain.
    void notifyLater(Runnable notification) {
        if (closed) {
            notification.run();
        } else {
            notifications.add(notification);
            scheduleNotifications();
        }
    }

    private void scheduleNotifications() {
        if (!notificationsScheduled) {
            notificationsScheduled = true;
            loop.microtask(this::deliverNotifications);
        }
    }

    /// Delivers one batch. The rest follows even if one of them throws.
    private void deliverNotifications() {
        try {
            for (int i = 0; i < NOTIFICATION_BATCH && !notifications.isEmpty(); i++) {
                notifications.take().run();
            }
        } finally {
            notificationsScheduled = false;
            if (notifications.isEmpty()) {
                notifications.trim();
            } else {
                scheduleNotifications();
            }
        }
    }

    boolean isClosed() {
        return closed;
    }

    /// Closes all listeners and streams when the loop ends, and notifies their users.
    @Override
    public void close() {
        closed = true;
        List<Throwable> failed = new ArrayList<>();
        while (!notifications.isEmpty()) {
            attempt(notifications.take(), failed); // The loop runs no more microtasks.
        }
        for (LoopListener listener : List.copyOf(listeners)) {
            attempt(listener::close, failed); // The others and the connections still close.
        }
        List<Connection> unfinished = new ArrayList<>();
        for (Connection each = first; each != null; each = each.next) {
            if (each.output.isUnfinished()) {
                unfinished.add(each);
            }
        }
        for (Connection each = first; each != null; each = first) {
            Connection last = each;
            attempt(() -> last.lifecycle.close(CloseReason.LOOP_ENDED, null), failed);
        }
        logReset("Loop " + loop.config().name(), unfinished);
        operations.runFlushActions(); // Returns lent buffers that are not in flight.
        if (!failed.isEmpty()) {
            Throwable thrown = failed.removeFirst();
            failed.forEach(thrown::addSuppressed);
            throw Throwables.rethrow(thrown);
        }
    }

    private static void attempt(Runnable last, List<Throwable> failed) {
        try {
            last.run();
        } catch (Throwable e) {
            failed.add(e);
        }
    }
}
