package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;
import static dev.gyre.internal.sys.Linux.EPOLLRDHUP;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/// A UDP socket. Datagrams are lost only if the queue is full.
final class UdpSocket extends SimulatedSocket {
    private static final int MAX_BYTES = 65_507;

    /// The overhead of a queued datagram.
    private static final int OVERHEAD_BYTES = 256;

    private static final class Datagram {
        final byte[] bytes;
        final Inet from;

        Datagram(byte[] bytes, Inet from) {
            this.bytes = bytes;
            this.from = from;
        }
    }

    private final Network.Line line = new Network.Line();
    private final Deque<Datagram> inbox = new ArrayDeque<>();
    private int queuedBytes;
    private @Nullable Inet local;
    private @Nullable Inet remote;
    private int shutdown;

    UdpSocket(SimulatedKernel kernel, int domain, int flags) {
        super(kernel, domain, Linux.SOCK_DGRAM, flags);
    }

    // ------------------------------------------------------------------ addresses

    @Override
    int bind(Address address) {
        if (local != null) {
            return -Errno.EINVAL;
        }
        if (!(address instanceof Inet wanted)) {
            return -Errno.EAFNOSUPPORT;
        }
        return kernel.network.bind(this, wanted, bound -> local = bound);
    }

    private int bindToAnything() {
        return local != null
                ? 0
                : bind(new Inet(domain == Linux.AF_INET6 ? Inet.ANY6 : Inet.ANY, 0));
    }

    @Override
    int listen(int backlog) {
        return -Errno.EOPNOTSUPP;
    }

    @Override
    @Nullable SimulatedSocket accept() {
        return null;
    }

    @Override
    boolean isListening() {
        return false;
    }

    @Override
    int connect(Address address) {
        if (!(address instanceof Inet to)) {
            return -Errno.EAFNOSUPPORT;
        }
        int result = bindToAnything();
        if (result < 0) {
            return result;
        }
        remote = to;
        if (local != null && local.isAny()) {
            local = local.withHost(Inet.LOOPBACK).shownTo(domain);
        }
        return 0;
    }

    @Override
    Address local() {
        return local != null ? local : new Inet(domain == Linux.AF_INET6 ? Inet.ANY6 : Inet.ANY, 0);
    }

    @Override
    @Nullable Address remote() {
        return remote;
    }

    boolean takesFrom(Inet from) {
        return remote == null || remote.unmapped().equals(from.unmapped());
    }

    // ------------------------------------------------------------------ datagrams

    @Override
    int ready() {
        int ready = EPOLLOUT | (inbox.isEmpty() ? 0 : EPOLLIN) | (error != 0 ? EPOLLERR : 0);
        if ((shutdown & 1) != 0) {
            ready |= EPOLLIN | EPOLLRDHUP;
        }
        return ready | (shutdown == 3 ? EPOLLHUP : 0);
    }

    @Override
    long receive(byte[] into, int length, int flags, Message message) {
        int failed = takeError();
        if (failed != 0) {
            return -failed;
        }
        Datagram first = inbox.poll();
        if (first == null) {
            return -Errno.EAGAIN; // Even after shutdown.
        }
        queuedBytes -= first.bytes.length + OVERHEAD_BYTES;
        int read = Math.min(length, first.bytes.length);
        System.arraycopy(first.bytes, 0, into, 0, read);
        message.from = first.from.shownTo(domain);
        boolean cut = read < first.bytes.length;
        message.flags = cut ? Linux.MSG_TRUNC : 0;
        return cut && (flags & Linux.MSG_TRUNC) != 0 ? first.bytes.length : read;
    }

    @Override
    long send(byte[] from, int length, int flags, @Nullable Address to) {
        int failed = takeError();
        if (failed != 0) {
            return -failed;
        }
        if ((flags & Linux.MSG_OOB) != 0) {
            return -Errno.EOPNOTSUPP;
        }
        if (to != null && !(to instanceof Inet)) {
            return -Errno.EAFNOSUPPORT;
        }
        Inet target = to == null ? remote : (Inet) to;
        if (target == null) {
            return -Errno.EDESTADDRREQ;
        }
        if (target.port() == 0) {
            return -Errno.EINVAL;
        }
        if (kernel.network.isUnreachable(target)) {
            return -Errno.ENETUNREACH;
        }
        if (length > MAX_BYTES) {
            return -Errno.EMSGSIZE;
        }
        if ((shutdown & 2) != 0) {
            return -Errno.EPIPE;
        }
        int result = bindToAnything();
        if (result < 0) {
            return result;
        }
        Inet own = local;
        assert own != null : "bound above";
        Inet source = own.isAny() ? own.withHost(Inet.LOOPBACK) : own;
        Datagram sent = new Datagram(Arrays.copyOf(from, length), source.unmapped());
        kernel.network.carry(line, () -> deliver(target.unmapped(), sent));
        return length;
    }

    private void deliver(Inet to, Datagram datagram) {
        if (kernel.network.isSilent(to)) {
            kernel.note("no response from " + to);
            return;
        }
        UdpSocket receiver = kernel.network.receiverAt(to, datagram.from);
        if (receiver == null) {
            kernel.network.carry(new Network.Line(), () -> unreachable(to));
        } else {
            receiver.arrived(datagram);
        }
    }

    /// Reports the error to connected sockets only.
    private void unreachable(Inet to) {
        if (remote != null && remote.unmapped().equals(to)) {
            error = Errno.ECONNREFUSED;
            wake(EPOLLERR);
        }
    }

    private void arrived(Datagram datagram) {
        int size = datagram.bytes.length + OVERHEAD_BYTES;
        if (queuedBytes + size > receiveLimit) {
            kernel.note("lost a datagram: the queue of " + this + " is full");
            return;
        }
        kernel.note("arrived datagram of " + datagram.bytes.length + " at " + this);
        queuedBytes += size;
        inbox.add(datagram);
        wake(READABLE_KEY);
    }

    // ------------------------------------------------------------------ ending

    @Override
    int shutdown(int how) {
        if (how < Linux.SHUT_RD || how > Linux.SHUT_RDWR) {
            return -Errno.EINVAL;
        }
        shutdown |= how + 1; // SHUT_RD is 0, and so on.
        wake(0);
        return remote == null ? -Errno.ENOTCONN : 0;
    }

    @Override
    void closed() {
        if (local != null) {
            kernel.network.release(this, local.port());
        }
    }

    @Override
    public String toString() {
        return "udp " + (local == null ? "unbound" : local.toString());
    }
}
