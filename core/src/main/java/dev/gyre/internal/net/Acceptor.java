package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.io.LoopAcceptOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.io.StreamCounters;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.operation.AcceptOperation;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;

/// Accepts connections from a listening socket for its [LoopListener], unless one of several
/// reasons suspends it. As with a stream's input, a cancelled accept must complete before the next
/// one starts.
///
/// Loop thread only.
final class Acceptor {
    // Reasons to suspend accepting, as bits.
    static final int PAUSED = 1;

    /// An accepted connection waits for a permit: the listener is registered as a waiter.
    private static final int FULL = 2;

    private static final int EXHAUSTED = 4;
    static final int LOW_MEMORY = 8;
    private static final int FAILING = 16;

    /// Another loop of the group accepts.
    static final int STANDBY = 32;

    /// Other parts of the process may have released descriptors meanwhile, without a notification.
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /// Long enough for a closed connection to have released its descriptor.
    private static final Duration SHORT_RETRY_DELAY = Duration.ofMillis(1);

    /// After this many consecutive peer errors the acceptor yields to other work. The cause is then
    /// local, such as a filter that rejects every call.
    private static final int MAX_PEER_ERRORS = 16;

    private static final Duration PEER_ERROR_DELAY = Duration.ofMillis(10);

    private final Streams streams;
    private final SyscallFactories syscalls;
    private final DescriptorLimit limit;
    private final OpenDescriptor socket;
    private final int backlog;
    private final boolean usesReserved;
    private final LoopListener listener;
    private final LoopAcceptOperation accept;

    /// Accepted before the accept was cancelled, or without a permit. Kept until accepting resumes.
    private final ArrayDeque<OpenDescriptor> waiting = new ArrayDeque<>();

    private int suspended;
    private boolean accepting;
    private boolean stopping;
    private int connectionsAtExhaustion;
    private int peerErrors;
    private boolean failureLogged;

    /// Whether connections are accepted one at a time. A multishot accept could take the whole
    /// backlog, and with it the reserved descriptors, before it can be cancelled. At the limit of
    /// connections, one accepted client waits, and the others stay in the backlog.
    private boolean singleShot;

    private @Nullable Timer retry;

    /// A spare descriptor. When descriptors run out, closing it lets one waiting peer be accepted
    /// and reset. Otherwise that peer would wait without a response.
    private @Nullable OpenDescriptor reserve;

    Acceptor(Streams streams, OpenDescriptor socket, ListenerConfig config, LoopListener listener) {
        this.streams = streams;
        syscalls = streams.operations().syscalls();
        limit = syscalls.limit();
        this.socket = socket;
        backlog = config.backlog();
        usesReserved = config.reservedDescriptors();
        this.listener = listener;
        singleShot = limit.isWithin(backlog, socket.fd());
        refillReserve();
        accept =
                streams.operations().pools().accepting.acquire().of(socket, true, this::onAccepted);
        accept.key(LoopOperations.ACCEPTING);
    }

    void update() {
        boolean wants = suspended == 0 && socket.isOpen() && !streams.operations().isShuttingDown();
        if (wants && !accepting) {
            accepting = true;
            accept.multishot(!singleShot);
            accept.start();
        } else if (accepting && !stopping && (!wants || (singleShot && accept.isMultishot()))) {
            stopping = true;
            accept.cancel();
        }
    }

    /// Deregisters as a waiter: the next permit passes to a loop that can use it.
    void suspend(int reason) {
        if (isSuspendedFor(FULL) && reason != 0 && listener.slot.limit.remove(listener)) {
            suspended &= ~FULL;
        }
        suspended |= reason;
        update();
    }

    void resume(int reasons) {
        suspended &= ~reasons;
        drainWaiting();
    }

    boolean isSuspendedFor(int reason) {
        return (suspended & reason) != 0;
    }

    /// Whether accepted connections may be served. On standby, another loop may hand one over.
    private boolean serves() {
        return !isSuspendedFor(~STANDBY);
    }

    /// Whether a limit or a shortage suspends it, and not the user or an error.
    boolean isExhausted() {
        return isSuspendedFor(~(PAUSED | FAILING | STANDBY));
    }

    /// Serves one waiting connection with a permit that another one has released. Releases the
    /// permit if no connection can use it.
    void onPlace() {
        suspended &= ~FULL;
        if (!serves() || waiting.isEmpty() || !listener.isAccepting()) {
            listener.slot.limit.release();
            if (listener.isAccepting()) {
                update();
            }
            return;
        }
        try {
            listener.place(waiting.remove());
        } finally {
            streams.notifyLater(this::drainWaiting);
        }
    }

    private void drainWaiting() {
        try {
            while (serves() && !waiting.isEmpty()) {
                if (listener.slot.limit.acquire(listener)) {
                    listener.place(waiting.remove());
                } else {
                    suspended |= FULL;
                }
            }
        } finally {
            if (serves() && !waiting.isEmpty()) {
                // A handler threw. The remaining connections are still served.
                streams.notifyLater(this::drainWaiting);
            }
            update();
        }
    }

    private void onAccepted(AcceptOperation done) {
        if (!done.hasMore()) {
            accepting = false;
            stopping = false;
        }
        long result = done.result();
        try {
            if (result >= 0) {
                admit((OpenDescriptor) done.accepted());
            } else if (!done.isCancelled()) {
                onError((int) -result);
            }
        } finally {
            update();
        }
    }

    private void admit(OpenDescriptor connection) {
        peerErrors = 0;
        failureLogged = false;
        int fd = connection.fd();
        if (!socket.isOpen()) {
            reject(connection);
        } else if (!usesReserved && limit.isReserved(fd)) {
            reject(connection);
            onExhausted(Errno.EMFILE, 1);
        } else {
            limit.acquired(streams.loop().nowNanos());
            singleShot = limit.isWithin(backlog, fd);
            addWaiting(connection);
            singleShot |= listener.slot.limit.isFull();
        }
    }

    /// Serves an accepted connection as soon as it has a permit.
    void addWaiting(OpenDescriptor connection) {
        waiting.add(connection);
        if (socket.isOpen()) {
            drainWaiting();
        } else {
            onClosed();
        }
    }

    /// Resets a connection that is not served, as the kernel resets those in the backlog. An
    /// orderly end could pass for an empty response.
    void reject(OpenDescriptor connection) {
        try {
            SocketOption.resetOnClose(syscalls, connection);
        } finally {
            connection.close();
        }
    }

    private void onError(int errno) {
        if (Errno.kind(errno) == SystemCallException.Kind.RESOURCE) {
            onExhausted(errno, shedOne());
        } else if (!Errno.isOfAcceptedPeer(errno)) {
            logFailure(errno);
            suspend(FAILING, RETRY_DELAY);
        } else if (++peerErrors % MAX_PEER_ERRORS == 0) {
            logFailure(errno);
            suspend(FAILING, PEER_ERROR_DELAY);
        }
    }

    /// Logs one failure until the next connection is accepted.
    private void logFailure(int errno) {
        if (!failureLogged) {
            failureLogged = true;
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    listener
                            + " cannot accept connections and retries: "
                            + new SystemCallException("accept4", errno, SystemCallException.NO_FD)
                                    .getMessage());
        }
    }

    /// Descriptors or memory have run out, in the process or in the system. One waiting peer is
    /// shed. The others stay in the backlog until resources are free.
    ///
    /// @param closed how many were shed
    private void onExhausted(int errno, int closed) {
        StreamCounters counters = streams.operations().streamCounters();
        long _ = listener.slot.add(ListenerSlot.SHED, closed);
        counters.shed.add(closed);
        if (closed > 0) {
            JfrEvents.connectionRefused(
                    streams.loop().config().name(), listener.address(), "descriptors");
        }
        if (limit.refused(listener + " has stopped accepting", errno, streams.loop().nowNanos())) {
            counters.exhaustions.add(1);
        }
        limit.shed(closed);
        singleShot = true;
        connectionsAtExhaustion = listener.connections();
        suspend(EXHAUSTED, RETRY_DELAY);
    }

    /// Closes the spare descriptor, then accepts one waiting peer and resets it.
    ///
    /// @return how many were reset: none if no peer waits, or the spare descriptor is missing
    private int shedOne() {
        closeReserve();
        int flags = Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;
        int fd = socket.use(listening -> syscalls.sockets().get().accept4(listening, 0, 0, flags));
        if (fd >= 0) {
            reject(OpenDescriptor.fresh(syscalls.kernels(), fd, true));
        }
        refillReserve();
        return fd >= 0 ? 1 : 0;
    }

    private void refillReserve() {
        try {
            reserve = NativeSockets.stream(syscalls, NativeSockets.localAddress(syscalls, socket));
        } catch (SystemCallException e) {
            reserve = null; // Another thread took the number. The next refill may succeed.
        }
    }

    private void closeReserve() {
        OpenDescriptor spare = reserve;
        reserve = null;
        if (spare != null) {
            spare.close();
        }
    }

    private void suspend(int reason, Duration delay) {
        suspend(reason);
        if (retry == null) {
            retry = streams.loop().after(delay, _ -> retry()).unreference();
        } else {
            retry.reschedule(delay);
        }
    }

    private void retry() {
        if (socket.isOpen()) {
            resume(EXHAUSTED | FAILING);
        }
    }

    /// Retries early if enough connections have closed since descriptors ran out.
    void connectionClosed() {
        if (isSuspendedFor(EXHAUSTED)
                && retry != null
                && listener.connections() <= connectionsAtExhaustion * 9L / 10) {
            retry.reschedule(SHORT_RETRY_DELAY);
        }
    }

    /// Hands over or resets the connections that were not served, after the listening socket has
    /// closed.
    void onClosed() {
        boolean _ = listener.slot.limit.remove(listener);
        closeReserve();
        if (retry != null) {
            retry.cancel();
        }
        LoopGroupListener group = listener.slot.group;
        while (!waiting.isEmpty()) {
            OpenDescriptor connection = waiting.remove();
            if (group == null || !group.handOverWaiting(connection, listener)) {
                listener.refuseWaiting(connection);
            }
        }
    }
}
