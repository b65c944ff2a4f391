package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Local;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Deque;

/// A Unix stream socket. Written bytes are available to the other end at once, and count against
/// the limit of the writer until read.
final class UnixSocket extends SimulatedSocket {
    private static final int SHUT_RECEIVE = 1;
    private static final int SHUT_SEND = 2;
    private static final int SHUT_BOTH = SHUT_RECEIVE | SHUT_SEND;

    private Local name = new Local("");
    private boolean bound;
    private boolean listening;
    private int backlog;
    private final Deque<UnixSocket> waiting = new ArrayDeque<>();

    private @Nullable UnixSocket peer;

    /// The name of the other end, kept after it is closed.
    private @Nullable Local remoteName;

    private boolean connected;
    private int shutdown;
    private final ByteQueue inbox = new ByteQueue();

    UnixSocket(SimulatedKernel kernel, int flags) {
        super(kernel, Linux.AF_UNIX, Linux.SOCK_STREAM, flags);
    }

    /// Implements `socketpair`.
    static UnixSocket[] pair(SimulatedKernel kernel, int flags) {
        UnixSocket one = new UnixSocket(kernel, flags);
        UnixSocket other = new UnixSocket(kernel, flags);
        one.join(other);
        return new UnixSocket[] {one, other};
    }

    private void join(UnixSocket other) {
        peer = other;
        other.peer = this;
        remoteName = other.name;
        other.remoteName = name;
        connected = true;
        other.connected = true;
    }

    // ------------------------------------------------------------------ connecting

    @Override
    int bind(Address address) {
        if (bound || !(address instanceof Local wanted)) {
            return -Errno.EINVAL;
        }
        int result = kernel.network.bindPath(this, wanted.path());
        if (result == 0) {
            bound = true;
            name = wanted;
        }
        return result;
    }

    @Override
    int listen(int backlog) {
        if (!bound || connected) {
            return -Errno.EINVAL;
        }
        listening = true;
        this.backlog = backlog;
        return 0;
    }

    @Override
    boolean isListening() {
        return listening;
    }

    @Override
    @Nullable SimulatedSocket accept() {
        UnixSocket child = waiting.poll();
        if (child != null) {
            UnixSocket client = child.peer;
            if (client != null) {
                client.wake(EPOLLOUT);
            }
        }
        return child;
    }

    @Override
    int connect(Address address) {
        if (!(address instanceof Local to)) {
            return -Errno.EINVAL;
        }
        UnixSocket target = kernel.network.boundTo(to.path());
        if (target == null) {
            boolean isFile = kernel.files.exists(to.path()) || to.path().startsWith("\0");
            return isFile ? -Errno.ECONNREFUSED : -Errno.ENOENT;
        }
        if (!target.listening) {
            return -Errno.ECONNREFUSED;
        }
        if (connected) {
            return -Errno.EISCONN;
        }
        if (listening) {
            return -Errno.EINVAL;
        }
        if (target.waiting.size() > target.backlog) {
            return -Errno.EAGAIN;
        }
        UnixSocket child = new UnixSocket(kernel, 0);
        child.name = target.name;
        join(child);
        target.waiting.add(child);
        target.wake(READABLE_KEY);
        return 0;
    }

    @Override
    Address local() {
        return name;
    }

    @Override
    @Nullable Address remote() {
        return remoteName;
    }

    // ------------------------------------------------------------------ bytes

    private boolean isWritable() {
        return !listening && (peer == null || 4L * peer.inbox.size() <= sendLimit);
    }

    @Override
    int ready() {
        int ready = error != 0 ? EPOLLERR : 0;
        if (shutdown == SHUT_BOTH || (!connected && !listening)) {
            ready |= EPOLLHUP;
        }
        if ((shutdown & SHUT_RECEIVE) != 0) {
            ready |= EPOLLIN | EPOLLRDHUP;
        }
        if (!inbox.isEmpty() || !waiting.isEmpty()) {
            ready |= EPOLLIN;
        }
        return ready | (isWritable() ? EPOLLOUT : 0);
    }

    @Override
    int available() {
        return inbox.size();
    }

    @Override
    int room() {
        UnixSocket other = peer;
        return other == null || (shutdown & SHUT_SEND) != 0
                ? -1
                : Math.max(0, sendLimit - other.inbox.size());
    }

    @Override
    long receive(byte[] into, int length, int flags, Message message) {
        if ((flags & Linux.MSG_OOB) != 0) {
            return -Errno.EOPNOTSUPP;
        }
        if (!connected) {
            return -Errno.EINVAL;
        }
        if (length == 0) {
            return 0;
        }
        if (!inbox.isEmpty()) {
            int read = Math.min(length, inbox.size());
            int pieces = inbox.take(into, 0, read);
            if (pieces > 0 && peer != null && peer.isWritable()) {
                peer.wake(EPOLLOUT);
            }
            return read;
        }
        int failed = takeError();
        if (failed != 0) {
            return -failed;
        }
        return (shutdown & SHUT_RECEIVE) != 0 ? 0 : -Errno.EAGAIN;
    }

    @Override
    long send(byte[] from, int length, int flags, @Nullable Address to) {
        if ((flags & Linux.MSG_OOB) != 0) {
            return -Errno.EOPNOTSUPP;
        }
        if (to != null) {
            return connected ? -Errno.EISCONN : -Errno.EOPNOTSUPP;
        }
        UnixSocket other = peer;
        if (!connected) {
            return -Errno.ENOTCONN;
        }
        if ((shutdown & SHUT_SEND) != 0 || other == null) {
            return -Errno.EPIPE;
        }
        if (length == 0) {
            return 0;
        }
        int taken = Math.min(length, sendLimit - other.inbox.size());
        if (taken <= 0) {
            return -Errno.EAGAIN;
        }
        byte[] copy = new byte[taken];
        System.arraycopy(from, 0, copy, 0, taken);
        other.inbox.add(copy);
        other.wake(READABLE_KEY);
        return taken;
    }

    // ------------------------------------------------------------------ ending

    @Override
    int shutdown(int how) {
        if (how < Linux.SHUT_RD || how > Linux.SHUT_RDWR) {
            return -Errno.EINVAL;
        }
        int closing = how + 1; // SHUT_RD is 0, and so on.
        shutdown |= closing;
        wake(0);
        UnixSocket other = peer;
        if (other != null) {
            // An end that does not receive also stops the other from sending, and vice versa.
            other.shutdown |=
                    ((closing & SHUT_RECEIVE) != 0 ? SHUT_SEND : 0)
                            | ((closing & SHUT_SEND) != 0 ? SHUT_RECEIVE : 0);
            other.wake(0);
        }
        return 0;
    }

    @Override
    void closed() {
        if (bound) {
            kernel.network.releasePath(name.path());
        }
        listening = false;
        for (UnixSocket child = waiting.poll(); child != null; child = waiting.poll()) {
            child.leave(true);
        }
        leave(!inbox.isEmpty());
    }

    private void leave(boolean unread) {
        UnixSocket other = peer;
        peer = null;
        if (other != null) {
            other.shutdown = SHUT_BOTH;
            if (unread) {
                other.error = Errno.ECONNRESET;
            }
            other.peer = null;
            other.wake(0);
        }
    }

    @Override
    public String toString() {
        return "unix" + (name.path().isEmpty() ? "" : " " + name);
    }
}
