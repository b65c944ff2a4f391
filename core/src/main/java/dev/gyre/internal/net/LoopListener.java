package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.io.AcceptOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketNames;
import dev.gyre.internal.io.StreamCounters;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.Accept;
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
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/// Accepts connections one after the other, unless one of several reasons holds it back. As with a stream's input, an
/// accept that was cancelled is waited for before it is started again.
///
/// Loop thread only, but for `close`.
public final class LoopListener implements Listener {
    /// Why no connections are accepted just now.
    private static final int PAUSED = 1;

    private static final int FULL = 2;
    private static final int EXHAUSTED = 4;
    private static final int TIGHT = 8;
    private static final int FAILING = 16;

    /// Others may have given descriptors back meanwhile, which nobody tells of.
    private static final Duration TRY_AGAIN = Duration.ofSeconds(1);

    /// A connection that is gone has given its descriptor back by then.
    private static final Duration SOON = Duration.ofMillis(1);

    /// After as many errors of peers in a row others have their turn. It is the listener's own trouble then, such as a filter that
    /// refuses every call.
    private static final int MAX_PEER_ERRORS = 16;

    private static final Duration BREATHER = Duration.ofMillis(10);

    private final Streams streams;
    private final DescriptorLimit limit;
    private final OpenDescriptor socket;
    private final SocketAddress address;
    private final ListenerConfig config;
    private final Consumer<? super Stream> handler;
    private final AcceptOperation accept;
    private final ReserveDescriptor reserve;
    private final NativeBytes nameRoom = NativeBytes.allocate(SocketNames.ROOM_BYTES);

    /// Accepted while it was too late to stop that, and kept until there is room.
    private final ArrayDeque<OpenDescriptor> waiting = new ArrayDeque<>();

    private final Map<InetAddress, Integer> perPeer = new HashMap<>();

    private int heldBack;
    private boolean accepting;
    private boolean stopping;
    private int connections;
    private int connectionsAtExhaustion;
    private int peerErrors;
    private boolean failureLogged;

    /// Whether connections are accepted one at a time: if the kernel accepted all that may wait, it would use up the reserve
    /// before anyone here could stop it.
    private boolean singly;

    private long accepted;
    private long refused;
    private long shed;
    private @Nullable Timer trying;

    // Draining, once it has begun.
    private @Nullable Deferred<DrainReport> drained;
    private @Nullable Timer drainDeadline;
    private int connectionsAtDrain;
    private int cut;

    private LoopListener(
            Streams streams,
            OpenDescriptor socket,
            ListenerConfig config,
            Consumer<? super Stream> handler) {
        this.streams = streams;
        limit = streams.operations().seam().limit();
        this.socket = socket;
        this.config = config;
        this.handler = handler;
        singly = limit.isWithin(config.backlog(), socket.fd());
        address = SocketNames.local(streams.operations().seam(), socket);
        reserve = new ReserveDescriptor(streams.operations().seam(), socket);
        accept = streams.operations().pools().accepting().of(socket, true, this::onAccepted);
        accept.key(LoopOperations.ACCEPTING);
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
        OpenDescriptor socket = ListeningSockets.open(streams.operations().seam(), address, config);
        try {
            LoopListener listener = new LoopListener(streams, socket, config, handler);
            streams.add(listener);
            listener.update();
            return listener;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    // ------------------------------------------------------------------ accepting

    private void update() {
        boolean wants = heldBack == 0 && socket.isOpen() && !streams.operations().isEnding();
        if (wants && !accepting) {
            accepting = true;
            accept.multishot(!singly);
            accept.start();
        } else if (accepting && !stopping && (!wants || (singly && accept.isMultishot()))) {
            stopping = true;
            accept.cancel();
        }
    }

    private void holdBack(int why) {
        heldBack |= why;
        update();
    }

    private void letGo(int why) {
        heldBack &= ~why;
        serveWaiting();
    }

    private void serveWaiting() {
        try {
            while (heldBack == 0 && !waiting.isEmpty()) {
                serve(waiting.remove());
            }
        } finally {
            if (heldBack == 0 && !waiting.isEmpty()) {
                // A handler threw, which is not the next one's fault.
                streams.tell(this::serveWaiting);
            }
            update();
        }
    }

    private void onAccepted(Accept done) {
        if (!done.hasMore()) {
            accepting = false;
            stopping = false;
        }
        long result = done.result();
        try {
            if (result >= 0) {
                keep((OpenDescriptor) done.accepted());
            } else if (!done.isCancelled()) {
                failed((int) -result);
            }
        } finally {
            update();
        }
    }

    /// Resets a connection that is not served, as the kernel does with those it still holds: an orderly end could
    /// pass for an empty response.
    private void reject(OpenDescriptor connection) {
        SocketSettings.resetOnClose(streams.operations().seam(), connection);
        connection.close();
    }

    private void keep(OpenDescriptor connection) {
        peerErrors = 0;
        failureLogged = false;
        int fd = connection.fd();
        if (!socket.isOpen()) {
            reject(connection);
        } else if (limit.isReserved(fd)) {
            connection.close();
            exhausted(Errno.EMFILE, 1);
        } else {
            limit.acquired(streams.loop().nowNanos());
            singly = limit.isWithin(config.backlog(), fd);
            waiting.add(connection);
            serveWaiting();
        }
    }

    private void failed(int errno) {
        if (Errno.kind(errno) == SystemCallException.Kind.RESOURCE) {
            exhausted(errno, reserve.shedOne());
        } else if (!Errno.isOfAcceptedPeer(errno)) {
            logFailure(errno);
            holdBack(FAILING, TRY_AGAIN);
        } else if (++peerErrors % MAX_PEER_ERRORS == 0) {
            logFailure(errno);
            holdBack(FAILING, BREATHER);
        }
    }

    /// Once until a connection is accepted again.
    private void logFailure(int errno) {
        if (!failureLogged) {
            failureLogged = true;
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    this
                            + " cannot accept and keeps trying: "
                            + new SystemCallException("accept4", errno, SystemCallException.NO_FD)
                                    .getMessage());
        }
    }

    /// Descriptors or memory have run out, in the process or the whole system. One waiting peer is told so by an end;
    /// the others wait in the kernel until something is free again.
    ///
    /// @param closed how many were shed
    private void exhausted(int errno, int closed) {
        StreamCounters counters = streams.operations().streamCounters();
        accepted += closed;
        shed += closed;
        counters.shed(closed);
        if (limit.refused(this + " has stopped accepting", errno, streams.loop().nowNanos())) {
            counters.exhausted();
        }
        limit.shed(closed);
        singly = true;
        connectionsAtExhaustion = connections;
        holdBack(EXHAUSTED, TRY_AGAIN);
    }

    private void holdBack(int why, Duration delay) {
        holdBack(why);
        if (trying == null) {
            trying = streams.loop().after(delay, _ -> tryAgain()).unreference();
        } else {
            trying.reschedule(delay);
        }
    }

    private void tryAgain() {
        if (socket.isOpen()) {
            letGo(EXHAUSTED | FAILING);
        }
    }

    // ------------------------------------------------------------------ serving

    private void serve(OpenDescriptor accepted) {
        SocketAddress peer = peerOf(accepted);
        if (peer == null) {
            accepted.close();
            return;
        }
        this.accepted++;
        if (!admits(peer)) {
            accepted.close();
            refused++;
            streams.operations().streamCounters().refused();
            return;
        }
        Connection connection =
                Connection.accepted(streams, accepted, peer, config.streams(), this);
        connections++;
        connection.onGone(this::gone);
        if (connections >= config.maxConnections()) {
            holdBack(FULL);
        }
        if (streams.operations().pool().isTight()) {
            holdBack(TIGHT);
            streams.operations().pool().whenRelaxed(() -> letGo(TIGHT));
        }
        begin(connection);
    }

    private void begin(Connection connection) {
        Tls tls = config.streams().tls();
        if (tls == null) {
            handOut(connection);
            return;
        }
        Promise<@Nullable Void> _ =
                secured(connection, tls)
                        .then(
                                _ -> {
                                    handOut(connection);
                                    return null;
                                },
                                _ -> null); // The stream was closed for it, and counted.
    }

    private static Promise<TlsSession> secured(Connection connection, Tls tls) {
        try {
            return connection.face().secure(tls);
        } catch (RuntimeException | Error e) {
            connection.closeWith(CloseReason.TLS_FAILED, e); // Nobody else knows it yet.
            throw e;
        }
    }

    private void handOut(Connection connection) {
        try {
            handler.accept(connection.face());
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        }
    }

    private @Nullable SocketAddress peerOf(OpenDescriptor accepted) {
        try {
            return SocketNames.peer(streams.operations().seam(), accepted, nameRoom);
        } catch (SystemCallException e) {
            return null; // It was reset before anybody came to it.
        }
    }

    private boolean admits(SocketAddress peer) {
        if (config.maxPerPeer() == Integer.MAX_VALUE || !(peer instanceof InetSocketAddress of)) {
            return true;
        }
        int others = perPeer.getOrDefault(of.getAddress(), 0);
        if (others >= config.maxPerPeer()) {
            return false;
        }
        perPeer.put(of.getAddress(), others + 1);
        return true;
    }

    private void gone(Connection connection) {
        connections--;
        if (streams.isOver()) {
            return;
        }
        reportIfDrained();
        if (config.maxPerPeer() != Integer.MAX_VALUE
                && connection.peer() instanceof InetSocketAddress of) {
            perPeer.computeIfPresent(of.getAddress(), (_, count) -> count == 1 ? null : count - 1);
        }
        if ((heldBack & FULL) != 0 && connections < config.maxConnections()) {
            letGo(FULL);
        }
        if ((heldBack & EXHAUSTED) != 0
                && trying != null
                && connections <= connectionsAtExhaustion * 9L / 10) {
            trying.reschedule(SOON);
        }
    }

    // ------------------------------------------------------------------ as a listener

    @Override
    public SocketAddress address() {
        return address;
    }

    @Override
    public void pause() {
        streams.requireConfined("pause");
        holdBack(PAUSED);
    }

    @Override
    public void resume() {
        streams.requireConfined("resume");
        letGo(PAUSED);
    }

    @Override
    public int connections() {
        return connections;
    }

    @Override
    public long accepted() {
        return accepted;
    }

    @Override
    public long refused() {
        return refused;
    }

    @Override
    public long shed() {
        return shed;
    }

    @Override
    public boolean isExhausted() {
        return (heldBack & ~(PAUSED | FAILING)) != 0;
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    @Override
    public void close() {
        if (socket.isOpen()) {
            socket.close();
            ListeningSockets.remove(address);
            streams.operations().onLoop(this::closed);
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
            drainDeadline = streams.loop().after(deadline, _ -> cutConnections());
            reportIfDrained();
        } else if (drainDeadline != null && isSooner(deadline, drainDeadline)) {
            drainDeadline.reschedule(deadline);
        }
        return report.promise();
    }

    private boolean isSooner(Duration deadline, Timer than) {
        long left = than.deadlineNanos() - streams.loop().nowNanos(); // survives wrap-around
        return deadline.compareTo(Duration.ofNanos(left)) < 0;
    }

    private void cutConnections() {
        CutStreams reset = streams.cutAcceptedBy(this);
        cut = reset.count();
        reset.log("Draining of listener " + address);
    }

    private void reportIfDrained() {
        Deferred<DrainReport> report = drained;
        if (report != null && connections == 0) {
            if (drainDeadline != null) {
                drainDeadline.cancel();
                drainDeadline = null;
            }
            report.resolve(new DrainReport(connectionsAtDrain - cut, cut));
        }
    }

    private void closed() {
        streams.remove(this);
        reserve.close();
        if (trying != null) {
            trying.cancel();
        }
        while (!waiting.isEmpty()) {
            reject(waiting.remove());
        }
    }

    @Override
    public String toString() {
        return "Listener[" + address + ", " + connections + " connections]";
    }
}
