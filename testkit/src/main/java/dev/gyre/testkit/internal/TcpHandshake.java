package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.internal.Address.Inet;
import dev.gyre.testkit.internal.TcpSocket.State;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;

/// Connects a socket: as the client or for a listener.
///
/// ```
///     client                               listener
///     CONNECTING ──── SYN ───────────────▶ space in the backlog? else SYN is repeated
///     CONNECTED  ◀─── SYN, ACK ─────────── a child, not yet acceptable
///                ──── ACK ───────────────▶ the child can be accepted
/// ```
final class TcpHandshake {
    /// The maximum backlog of Linux.
    private static final int MAX_BACKLOG = 4_096;

    private static final int MAX_RETRIES = 6;
    private static final long FIRST_RETRY_NANOS = 1_000_000_000L;

    private final TcpSocket socket;
    private final SimulatedKernel kernel;

    /// `connect` was called, and no later call has reported the result.
    private boolean attempted;

    /// A call has reported success. The socket never connects again.
    private boolean settled;

    /// An unreported attempt was shut down. As on Linux, the socket never connects again.
    private boolean brokenOff;

    private int backlog;
    private int handshakes;
    private final Deque<TcpSocket> waiting = new ArrayDeque<>();

    /// The listener, until the connection can be accepted.
    private @Nullable TcpSocket listener;

    TcpHandshake(TcpSocket socket) {
        this.socket = socket;
        kernel = socket.kernel;
    }

    // ------------------------------------------------------------------ client

    /// Implements the checks of `connect` against earlier attempts.
    ///
    /// @return one if the attempt may begin; otherwise the result
    int mayConnect() {
        return switch (socket.state) {
            case LISTENING -> -Errno.EISCONN;
            case CONNECTING -> -Errno.EALREADY;
            case CONNECTED -> {
                boolean news = attempted && !settled;
                settled = true;
                yield news ? 0 : -Errno.EISCONN;
            }
            case CLOSED -> {
                if (settled || brokenOff) {
                    yield settled ? -Errno.EISCONN : -Errno.EINVAL;
                }
                yield attempted ? giveUp() : 1;
            }
        };
    }

    private int giveUp() {
        int why = socket.takeError();
        attempted = false;
        socket.forgetShutdown();
        socket.flow.reset();
        socket.wake(EPOLLERR);
        return -(why != 0 ? why : Errno.ECONNABORTED);
    }

    void begin(Inet to) {
        attempted = true;
        socket.state = State.CONNECTING;
        socket.flow.reset();
        call(to, 0);
    }

    private void call(Inet to, int tries) {
        kernel.network.carry(
                socket.flow.line,
                () -> {
                    if (socket.state != State.CONNECTING) {
                        return;
                    }
                    if (kernel.network.isSilent(to)) {
                        kernel.note("no response from " + to);
                        callAgain(to, tries);
                        return;
                    }
                    TcpSocket target = kernel.network.listenerAt(to);
                    if (target == null) {
                        kernel.note("refused " + to);
                        socket.flow.back(socket::receiveReset);
                    } else if (target.handshake.isFull()) {
                        kernel.note("dropped a connection to " + to + ": the backlog is full");
                        callAgain(to, tries);
                    } else {
                        target.handshake.synAck(socket);
                    }
                });
    }

    private void callAgain(Inet to, int tries) {
        kernel.schedule.after(
                FIRST_RETRY_NANOS << tries,
                () -> {
                    if (socket.state != State.CONNECTING) {
                        return;
                    }
                    if (tries == MAX_RETRIES) {
                        socket.fail(Errno.ETIMEDOUT);
                    } else {
                        call(to, tries + 1);
                    }
                });
    }

    private void established(TcpSocket child) {
        if (socket.state != State.CONNECTING) {
            socket.flow.line(child, child.handshake::aborted);
            return;
        }
        kernel.note("connected " + socket.local() + " to " + socket.acceptedFrom());
        socket.state = State.CONNECTED;
        socket.flow.connectTo(child);
        socket.flow.toPeer(other -> other.handshake.confirmed());
        socket.wake(0);
    }

    /// Called when the socket is shut down while connected or connecting.
    void shutDown(State in) {
        switch (in) {
            case CONNECTED -> settled = true;
            case CONNECTING -> attempted = false;
            case CLOSED -> brokenOff |= attempted;
            case LISTENING -> {}
        }
    }

    // ------------------------------------------------------------------ listener

    void listen(int requested) {
        backlog = Math.min(requested, MAX_BACKLOG);
        socket.state = State.LISTENING;
    }

    private boolean isFull() {
        return waiting.size() + handshakes > backlog;
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    @Nullable TcpSocket accept() {
        return waiting.poll();
    }

    void stopListening() {
        socket.state = State.CLOSED;
        for (TcpSocket child = waiting.poll(); child != null; child = waiting.poll()) {
            child.abort();
        }
    }

    private void synAck(TcpSocket client) {
        TcpSocket child = socket.childFor(client);
        child.handshake.listener = socket;
        child.handshake.settled = true;
        handshakes++;
        child.flow.connectTo(client);
        kernel.network.carry(child.flow.line, () -> client.handshake.established(child));
    }

    /// Called when the client has disconnected.
    private void aborted() {
        if (listener != null) {
            listener.handshake.handshakes--;
        }
        socket.receiveReset();
    }

    private void confirmed() {
        TcpSocket to = listener;
        if (to == null) {
            return;
        }
        listener = null;
        to.handshake.handshakes--;
        if (to.state != State.LISTENING) {
            socket.abort();
            return;
        }
        socket.holdPort();
        to.handshake.waiting.add(socket);
        to.wake(SimulatedSocket.READABLE_KEY);
    }
}
