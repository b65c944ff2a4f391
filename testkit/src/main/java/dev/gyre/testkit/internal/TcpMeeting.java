package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.internal.Address.Inet;
import dev.gyre.testkit.internal.TcpSocket.State;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;

/// How a socket comes to be connected: as the one who calls or as the one who listens.
///
/// ```
///     client                               listener
///     CONNECTING ──── call ──────────────▶ room in the backlog? else the call is repeated
///     CONNECTED  ◀─── answer ───────────── a child, not yet to be accepted
///                ──── confirmation ──────▶ the child waits to be accepted
/// ```
final class TcpMeeting {
    /// What Linux cuts a backlog to.
    private static final int MOST_BACKLOG = 4_096;

    private static final int MOST_RETRIES = 6;
    private static final long FIRST_RETRY_NANOS = 1_000_000_000L;

    private final TcpSocket socket;
    private final SimulatedKernel kernel;

    /// Connect was called, and nobody has been told by another call how it went.
    private boolean attempted;

    /// Somebody was told that it is connected: from then on it never connects again.
    private boolean settled;

    /// An attempt of which nobody was told was shut down: Linux lets it never connect again either.
    private boolean brokenOff;

    private int backlog;
    private int handshakes;
    private final Deque<TcpSocket> waiting = new ArrayDeque<>();

    /// Whose child it is, until it can be accepted.
    private @Nullable TcpSocket listener;

    TcpMeeting(TcpSocket socket) {
        this.socket = socket;
        kernel = socket.kernel;
    }

    // ------------------------------------------------------------------ who calls

    /// As `connect`, as far as the socket's past decides.
    ///
    /// @return one if it may begin, else the result
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
                        kernel.note("no answer from " + to);
                        callAgain(to, tries);
                        return;
                    }
                    TcpSocket target = kernel.network.listenerAt(to);
                    if (target == null) {
                        kernel.note("refused " + to);
                        socket.flow.back(socket::receiveReset);
                    } else if (target.meeting.isFull()) {
                        kernel.note("dropped a connection to " + to + ": the backlog is full");
                        callAgain(to, tries);
                    } else {
                        target.meeting.answer(socket);
                    }
                });
    }

    private void callAgain(Inet to, int tries) {
        kernel.agenda.after(
                FIRST_RETRY_NANOS << tries,
                () -> {
                    if (socket.state != State.CONNECTING) {
                        return;
                    }
                    if (tries == MOST_RETRIES) {
                        socket.fail(Errno.ETIMEDOUT);
                    } else {
                        call(to, tries + 1);
                    }
                });
    }

    private void established(TcpSocket child) {
        if (socket.state != State.CONNECTING) {
            socket.flow.line(child, child.meeting::aborted);
            return;
        }
        kernel.note("connected " + socket.local() + " to " + socket.acceptedFrom());
        socket.state = State.CONNECTED;
        socket.flow.connectTo(child);
        socket.flow.toPeer(other -> other.meeting.confirmed());
        socket.wake(0);
    }

    /// The socket was shut down while it was connected, or on the way there.
    void shutDown(State in) {
        switch (in) {
            case CONNECTED -> settled = true;
            case CONNECTING -> attempted = false;
            case CLOSED -> brokenOff |= attempted;
            case LISTENING -> {}
        }
    }

    // ------------------------------------------------------------------ who listens

    void listen(int most) {
        backlog = Math.min(most, MOST_BACKLOG);
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

    private void answer(TcpSocket client) {
        TcpSocket child = socket.childFor(client);
        child.meeting.listener = socket;
        child.meeting.settled = true;
        handshakes++;
        child.flow.connectTo(client);
        kernel.network.carry(child.flow.line, () -> client.meeting.established(child));
    }

    /// The client is not there any more.
    private void aborted() {
        if (listener != null) {
            listener.meeting.handshakes--;
        }
        socket.receiveReset();
    }

    private void confirmed() {
        TcpSocket to = listener;
        if (to == null) {
            return;
        }
        listener = null;
        to.meeting.handshakes--;
        if (to.state != State.LISTENING) {
            socket.abort();
            return;
        }
        socket.holdPort();
        to.meeting.waiting.add(socket);
        to.wake(SimulatedSocket.READABLE_KEY);
    }
}
