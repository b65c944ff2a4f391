package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLPRI;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import org.jspecify.annotations.Nullable;

/// A TCP socket, as Linux shows it to applications. [TcpFlow] transfers its bytes.
final class TcpSocket extends SimulatedSocket {
    private static final int SHUT_RECEIVE = 1;
    private static final int SHUT_SEND = 2;
    private static final int SHUT_BOTH = SHUT_RECEIVE | SHUT_SEND;

    enum State {
        CLOSED,
        LISTENING,
        CONNECTING,
        /// From the handshake until both ends have finished or one has reset.
        CONNECTED
    }

    final TcpFlow flow = new TcpFlow(this);
    final TcpHandshake handshake = new TcpHandshake(this);
    State state = State.CLOSED;
    private int shutdown;

    /// Closed by the application, possibly with output left.
    private boolean orphaned;

    private @Nullable Inet local;
    private @Nullable Inet remote;
    private boolean holdsPort;

    /// Called after changes, for sockets without a descriptor.
    @Nullable Runnable onWake;

    TcpSocket(SimulatedKernel kernel, int domain, int flags) {
        super(kernel, domain, Linux.SOCK_STREAM, flags);
    }

    @Override
    void wake(int key) {
        super.wake(key);
        if (onWake != null) {
            onWake.run();
        }
    }

    // ------------------------------------------------------------------ connecting

    @Override
    int bind(Address address) {
        if (holdsPort || state != State.CLOSED) {
            return -Errno.EINVAL;
        }
        if (!(address instanceof Inet wanted)) {
            return -Errno.EAFNOSUPPORT;
        }
        int result = kernel.network.bind(this, wanted, bound -> local = bound);
        holdsPort = result == 0;
        return result;
    }

    private int bindToAnything() {
        return bind(new Inet(domain == Linux.AF_INET6 ? Inet.ANY6 : Inet.ANY, 0));
    }

    @Override
    int listen(int backlog) {
        if (state != State.CLOSED && state != State.LISTENING) {
            return -Errno.EINVAL;
        }
        if (!holdsPort) {
            int result = bindToAnything();
            if (result < 0) {
                return result;
            }
        }
        if (local != null && kernel.network.isTaken(this, local, true)) {
            return -Errno.EADDRINUSE;
        }
        handshake.listen(backlog);
        return 0;
    }

    @Override
    boolean isListening() {
        return state == State.LISTENING;
    }

    @Override
    @Nullable SimulatedSocket accept() {
        return handshake.accept();
    }

    @Override
    int connect(Address address) {
        if (!(address instanceof Inet to)) {
            return -Errno.EAFNOSUPPORT;
        }
        int past = handshake.mayConnect();
        if (past <= 0) {
            return past;
        }
        if (!holdsPort) {
            int result = bindToAnything();
            if (result < 0) {
                return result;
            }
        }
        if (kernel.network.isUnreachable(to)) {
            return -Errno.ENETUNREACH;
        }
        Inet target = to.isAny() ? to.withHost(loopback(to)) : to;
        remote = target;
        if (local != null && local.isAny()) {
            local = local.withHost(loopback(target)).shownTo(domain);
        }
        handshake.begin(target);
        return -Errno.EINPROGRESS;
    }

    private static String loopback(Inet like) {
        return like.unmapped().isV6() ? Inet.LOOPBACK6 : Inet.LOOPBACK;
    }

    /// Creates the socket of a peer outside, which has its own address and holds no port.
    void connectFrom(Inet from, Inet to) {
        local = from;
        remote = to;
        handshake.begin(to);
    }

    /// Creates the socket of an accepted client.
    TcpSocket childFor(TcpSocket client) {
        Inet from = client.local;
        Inet to = client.remote;
        assert from != null && to != null : "a client has both addresses";
        TcpSocket child = new TcpSocket(kernel, domain, 0);
        child.inherit(this);
        child.local = to.shownTo(domain);
        child.remote = from.shownTo(domain);
        child.state = State.CONNECTED;
        return child;
    }

    /// An accepted connection shares the port of its listener and keeps it after the listener is
    /// closed.
    void holdPort() {
        if (local != null) {
            holdsPort = true;
            kernel.network.hold(this, local.port());
        }
    }

    // ------------------------------------------------------------------ names

    @Override
    @Nullable Address local() {
        return local != null ? local : new Inet(domain == Linux.AF_INET6 ? Inet.ANY6 : Inet.ANY, 0);
    }

    @Override
    @Nullable Address remote() {
        return state == State.CONNECTED ? remote : null;
    }

    @Override
    @Nullable Address acceptedFrom() {
        return remote;
    }

    // ------------------------------------------------------------------ bytes

    @Override
    int ready() {
        if (state == State.LISTENING) {
            return handshake.hasWaiting() ? EPOLLIN : 0;
        }
        int ready = 0;
        if (shutdown == SHUT_BOTH || state == State.CLOSED) {
            ready |= EPOLLHUP;
        }
        if ((shutdown & SHUT_RECEIVE) != 0) {
            ready |= EPOLLIN | EPOLLRDHUP;
        }
        if (state != State.CONNECTING) {
            ready |= flow.isReadable() ? EPOLLIN : 0;
            ready |= (shutdown & SHUT_SEND) != 0 || flow.isWritable() ? EPOLLOUT : 0;
            ready |= flow.hasUrgent() ? EPOLLPRI : 0;
        }
        return ready | (error != 0 ? EPOLLERR : 0);
    }

    @Override
    int available() {
        return flow.available();
    }

    @Override
    int room() {
        boolean fails = state != State.CONNECTED || (shutdown & SHUT_SEND) != 0 || error != 0;
        return fails ? -1 : flow.room();
    }

    @Override
    long receive(byte[] into, int length, int flags, Message message) {
        if (state == State.LISTENING) {
            return -Errno.ENOTCONN;
        }
        if ((flags & Linux.MSG_OOB) != 0) {
            return receiveUrgent(into, length);
        }
        if (length == 0) {
            return 0;
        }
        int read = flow.read(into, length);
        if (read > 0 || flow.ended) {
            return read;
        }
        int failed = takeError();
        if (failed != 0) {
            return -failed;
        }
        if ((shutdown & SHUT_RECEIVE) != 0) {
            return 0;
        }
        return state == State.CLOSED ? -Errno.ENOTCONN : -Errno.EAGAIN;
    }

    private long receiveUrgent(byte[] into, int length) {
        if (!flow.hasUrgent()) {
            return -Errno.EINVAL;
        }
        if (state == State.CLOSED && !flow.ended) {
            return -Errno.ENOTCONN;
        }
        byte urgent = flow.takeUrgent();
        if (length > 0) {
            into[0] = urgent;
            return 1;
        }
        return 0;
    }

    @Override
    long send(byte[] from, int length, int flags, @Nullable Address to) {
        if (state == State.CONNECTING) {
            return -Errno.EAGAIN;
        }
        if (state != State.CONNECTED || (shutdown & SHUT_SEND) != 0) {
            int failed = takeError();
            return -(failed != 0 ? failed : Errno.EPIPE);
        }
        if (error != 0) {
            return -takeError();
        }
        if (length == 0) {
            return 0;
        }
        int sent = flow.write(from, length, (flags & Linux.MSG_OOB) != 0);
        return sent > 0 ? sent : -Errno.EAGAIN;
    }

    // ------------------------------------------------------------------ ending

    @Override
    int shutdown(int how) {
        if (how < Linux.SHUT_RD || how > Linux.SHUT_RDWR) {
            return -Errno.EINVAL;
        }
        int closing = how + 1; // SHUT_RD is 0, and so on.
        int result = 0;
        handshake.shutDown(state);
        switch (state) {
            case LISTENING -> {
                if ((closing & SHUT_RECEIVE) != 0) {
                    handshake.stopListening();
                }
            }
            case CONNECTING -> {
                state = State.CLOSED;
                flow.reset();
            }
            case CLOSED -> {
                shutdown |= closing;
                result = -Errno.ENOTCONN;
            }
            case CONNECTED -> {
                shutdown |= closing;
                if ((closing & SHUT_SEND) != 0) {
                    flow.end();
                }
            }
        }
        wake(0);
        return result;
    }

    void forgetShutdown() {
        shutdown = 0;
    }

    @Override
    void closed() {
        orphaned = true;
        switch (state) {
            case LISTENING -> handshake.stopListening();
            case CONNECTING -> state = State.CLOSED;
            case CONNECTED -> {
                if (flow.hasUnread() || has(Linux.SOL_SOCKET, Linux.SO_LINGER)) {
                    abort();
                } else {
                    shutdown = SHUT_BOTH;
                    flow.end();
                }
            }
            case CLOSED -> {}
        }
        releasePort();
    }

    private void releasePort() {
        if (holdsPort && local != null) {
            holdsPort = false;
            kernel.network.release(this, local.port());
        }
    }

    /// Resets the connection, like a close with zero linger time.
    void abort() {
        orphaned = true;
        if (state == State.CONNECTED) {
            flow.toPeer(TcpSocket::receiveReset);
        }
        state = State.CLOSED;
        shutdown = SHUT_BOTH;
        flow.discard();
        releasePort();
    }

    // ------------------------------------------------------------------ what arrives

    /// Returns whether arriving bytes cannot be read any more and are answered with a reset.
    boolean refusesData() {
        return orphaned
                || state != State.CONNECTED
                || (flow.isEnding() && (shutdown & SHUT_RECEIVE) != 0);
    }

    void refuse() {
        TcpSocket other = flow.peer();
        if (other != null) {
            flow.line(other, other::receiveReset);
        }
        receiveReset();
    }

    /// Called when the other end has ended its output.
    void receiveEnd() {
        if (state != State.CONNECTED) {
            return;
        }
        flow.ended = true;
        shutdown |= SHUT_RECEIVE;
        closeIfThrough();
        wake(0);
    }

    /// Called when both ends have ended their output and know it.
    void closeIfThrough() {
        if (flow.ended && flow.endConfirmed && state == State.CONNECTED) {
            state = State.CLOSED;
            shutdown = SHUT_BOTH;
            wake(0);
        }
    }

    void receiveReset() {
        switch (state) {
            case CONNECTING -> fail(Errno.ECONNREFUSED);
            case CONNECTED -> {
                boolean onlySending = flow.ended && !flow.isEnding();
                fail(onlySending ? Errno.EPIPE : Errno.ECONNRESET);
            }
            case CLOSED, LISTENING -> {}
        }
    }

    void fail(int errno) {
        kernel.note("failed " + local + " to " + remote + ": " + Errno.name(errno));
        error = errno;
        state = State.CLOSED;
        shutdown = SHUT_BOTH;
        flow.fail();
        wake(0);
    }

    // ------------------------------------------------------------------ for peers outside

    boolean isConnecting() {
        return state == State.CONNECTING;
    }

    boolean isConnected() {
        return state == State.CONNECTED;
    }

    @Override
    public String toString() {
        return "tcp " + (local == null ? "unbound" : local.toString()) + " " + state;
    }
}
