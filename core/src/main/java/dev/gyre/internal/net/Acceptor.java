package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Log;
import dev.gyre.internal.io.LoopAccept;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.StreamCounters;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.Errno;
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
    static final int FULL = 2;
    private static final int EXHAUSTED = 4;
    static final int TIGHT = 8;
    private static final int FAILING = 16;

    /// Other parts of the process may have released descriptors meanwhile, without a notification.
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /// Long enough for a closed connection to have released its descriptor.
    private static final Duration SHORT_RETRY_DELAY = Duration.ofMillis(1);

    /// After this many consecutive peer errors the acceptor yields to other work. The cause is then
    /// local, such as a filter that rejects every call.
    private static final int MAX_PEER_ERRORS = 16;

    private static final Duration PEER_ERROR_DELAY = Duration.ofMillis(10);

    private final Streams streams;
    private final DescriptorLimit limit;
    private final OpenDescriptor socket;
    private final int backlog;
    private final LoopListener listener;
    private final LoopAccept accept;
    private final ReserveDescriptor reserve;

    /// Accepted before the accept could be cancelled, and kept until accepting resumes.
    private final ArrayDeque<OpenDescriptor> waiting = new ArrayDeque<>();

    private int suspended;
    private boolean accepting;
    private boolean stopping;
    private int connectionsAtExhaustion;
    private int peerErrors;
    private boolean failureLogged;

    /// Whether connections are accepted one at a time. A multishot accept could take the whole
    /// backlog, and with it the reserved descriptors, before it can be cancelled.
    private boolean singly;

    private long shed;
    private @Nullable Timer retry;

    Acceptor(Streams streams, OpenDescriptor socket, int backlog, LoopListener listener) {
        this.streams = streams;
        limit = streams.operations().seam().limit();
        this.socket = socket;
        this.backlog = backlog;
        this.listener = listener;
        singly = limit.isWithin(backlog, socket.fd());
        reserve = new ReserveDescriptor(streams.operations().seam(), socket);
        accept = streams.operations().pools().accepting().of(socket, true, this::onAccepted);
        accept.key(LoopOperations.ACCEPTING);
    }

    /// Starts or cancels the accept, whichever the current state requires.
    void update() {
        boolean wants = suspended == 0 && socket.isOpen() && !streams.operations().isEnding();
        if (wants && !accepting) {
            accepting = true;
            accept.multishot(!singly);
            accept.start();
        } else if (accepting && !stopping && (!wants || (singly && accept.isMultishot()))) {
            stopping = true;
            accept.cancel();
        }
    }

    void suspend(int reason) {
        suspended |= reason;
        update();
    }

    /// Withdraws a reason, and resumes if no other remains.
    void resume(int reasons) {
        suspended &= ~reasons;
        serveWaiting();
    }

    boolean isSuspendedFor(int reason) {
        return (suspended & reason) != 0;
    }

    /// Whether a limit or a shortage suspends it, rather than its user or an error.
    boolean isExhausted() {
        return isSuspendedFor(~(PAUSED | FAILING));
    }

    /// Returns how many connections were accepted only to be closed, for want of descriptors.
    long shed() {
        return shed;
    }

    private void serveWaiting() {
        try {
            while (suspended == 0 && !waiting.isEmpty()) {
                listener.serve(waiting.remove());
            }
        } finally {
            if (suspended == 0 && !waiting.isEmpty()) {
                // A handler threw, which must not affect the next connection.
                streams.tell(this::serveWaiting);
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
                keep((OpenDescriptor) done.accepted());
            } else if (!done.isCancelled()) {
                failed((int) -result);
            }
        } finally {
            update();
        }
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
            singly = limit.isWithin(backlog, fd);
            waiting.add(connection);
            serveWaiting();
        }
    }

    /// Resets a connection that is not served, as the kernel does with those still in the backlog:
    /// an orderly end could pass for an empty response.
    private void reject(OpenDescriptor connection) {
        SocketSettings.resetOnClose(streams.operations().seam(), connection);
        connection.close();
    }

    // ------------------------------------------------------------------ errors

    private void failed(int errno) {
        if (Errno.kind(errno) == SystemCallException.Kind.RESOURCE) {
            exhausted(errno, reserve.shedOne());
        } else if (!Errno.isOfAcceptedPeer(errno)) {
            logFailure(errno);
            suspend(FAILING, RETRY_DELAY);
        } else if (++peerErrors % MAX_PEER_ERRORS == 0) {
            logFailure(errno);
            suspend(FAILING, PEER_ERROR_DELAY);
        }
    }

    /// Logs once until a connection is accepted again.
    private void logFailure(int errno) {
        if (!failureLogged) {
            failureLogged = true;
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    listener
                            + " cannot accept and keeps trying: "
                            + new SystemCallException("accept4", errno, SystemCallException.NO_FD)
                                    .getMessage());
        }
    }

    /// Descriptors or memory have run out, in the process or the whole system. One waiting peer is
    /// shed; the others stay in the backlog until resources are free again.
    ///
    /// @param closed how many were shed
    private void exhausted(int errno, int closed) {
        StreamCounters counters = streams.operations().streamCounters();
        shed += closed;
        counters.shed(closed);
        if (limit.refused(listener + " has stopped accepting", errno, streams.loop().nowNanos())) {
            counters.exhausted();
        }
        limit.shed(closed);
        singly = true;
        connectionsAtExhaustion = listener.connections();
        suspend(EXHAUSTED, RETRY_DELAY);
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

    /// A connection has closed. Retries early if enough of them have since descriptors ran out.
    void connectionClosed() {
        if (isSuspendedFor(EXHAUSTED)
                && retry != null
                && listener.connections() <= connectionsAtExhaustion * 9L / 10) {
            retry.reschedule(SHORT_RETRY_DELAY);
        }
    }

    /// The listening socket is closed: rejects the connections that were not served.
    void closed() {
        reserve.close();
        if (retry != null) {
            retry.cancel();
        }
        while (!waiting.isEmpty()) {
            reject(waiting.remove());
        }
    }
}
