package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// The real socket calls, through libc; linked at first use, as in [LinuxPollCalls].
public final class LinuxSocketCalls implements SocketCalls {
    private static final ThreadLocal<LinuxSocketCalls> OF_THREAD =
            ThreadLocal.withInitial(LinuxSocketCalls::new);

    // One thread at a time: the owner of this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment fileOffset = Memory.allocate(Long.BYTES);

    /// `struct pollfd`: the descriptor, then two bytes each of requested and returned events.
    private final MemorySegment pollfd = Memory.allocate(2 * Integer.BYTES);

    public static LinuxSocketCalls ofThread() {
        return OF_THREAD.get();
    }

    private static final class Sockets {
        static final CFunction SOCKET = intFunction("socket");
        static final CFunction BIND = intFunction("bind");
        static final CFunction LISTEN = intFunction("listen");
        static final CFunction GETSOCKNAME = intFunction("getsockname");
        static final CFunction GETPEERNAME = intFunction("getpeername");
    }

    private static final class Options {
        static final CFunction GETSOCKOPT = intFunction("getsockopt");
        static final CFunction SETSOCKOPT = intFunction("setsockopt");
    }

    private static final class Connections {
        static final CFunction ACCEPT4 = intFunction("accept4");
        static final CFunction CONNECT = intFunction("connect");
        static final CFunction SHUTDOWN = intFunction("shutdown");
    }

    private static final class Bytes {
        static final CFunction RECV = longFunction("recv");
        static final CFunction SEND = longFunction("send");
    }

    private static final class Messages {
        static final CFunction RECVMSG = longFunction("recvmsg");
        static final CFunction SENDMSG = longFunction("sendmsg");
    }

    private static final class Vectors {
        static final CFunction READV = longFunction("readv");
        static final CFunction WRITEV = longFunction("writev");
    }

    private static final class Poll {
        static final CFunction POLL = intFunction("poll");
    }

    private static final class Copies {
        static final CFunction SENDFILE = longFunction("sendfile");
        static final CFunction SPLICE = longFunction("splice");
    }

    @Override
    public int socket(int domain, int type, int protocol) {
        return (int) Sockets.SOCKET.call(captured, domain, type, protocol);
    }

    @Override
    public int bind(int fd, long address, int length) {
        return (int) Sockets.BIND.call(captured, fd, address, length);
    }

    @Override
    public int listen(int fd, int backlog) {
        return (int) Sockets.LISTEN.call(captured, fd, backlog);
    }

    @Override
    public int accept4(int fd, long address, long lengthAddress, int flags) {
        return (int) Connections.ACCEPT4.call(captured, fd, address, lengthAddress, flags);
    }

    @Override
    public int connect(int fd, long address, int length) {
        return (int) Connections.CONNECT.call(captured, fd, address, length);
    }

    @Override
    public int getsockname(int fd, long address, long lengthAddress) {
        return (int) Sockets.GETSOCKNAME.call(captured, fd, address, lengthAddress);
    }

    @Override
    public int getpeername(int fd, long address, long lengthAddress) {
        return (int) Sockets.GETPEERNAME.call(captured, fd, address, lengthAddress);
    }

    @Override
    public int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress) {
        return (int)
                Options.GETSOCKOPT.call(captured, fd, level, option, valueAddress, lengthAddress);
    }

    @Override
    public int setsockopt(int fd, int level, int option, long valueAddress, int length) {
        return (int) Options.SETSOCKOPT.call(captured, fd, level, option, valueAddress, length);
    }

    @Override
    public int shutdown(int fd, int how) {
        return (int) Connections.SHUTDOWN.call(captured, fd, how);
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        return Bytes.RECV.call(captured, fd, address, count, flags);
    }

    @Override
    public long send(int fd, long address, long count, int flags) {
        return Bytes.SEND.call(captured, fd, address, count, flags);
    }

    @Override
    public long recvmsg(int fd, long messageAddress, int flags) {
        return Messages.RECVMSG.call(captured, fd, messageAddress, flags);
    }

    @Override
    public long sendmsg(int fd, long messageAddress, int flags) {
        return Messages.SENDMSG.call(captured, fd, messageAddress, flags);
    }

    @Override
    public long readv(int fd, long iovecsAddress, int count) {
        return Vectors.READV.call(captured, fd, iovecsAddress, count);
    }

    @Override
    public long writev(int fd, long iovecsAddress, int count) {
        return Vectors.WRITEV.call(captured, fd, iovecsAddress, count);
    }

    @Override
    public long sendfile(int socket, int file, long offset, long count) {
        fileOffset.set(JAVA_LONG, 0, offset);
        return Copies.SENDFILE.call(captured, socket, file, fileOffset.address(), count);
    }

    @Override
    public long splice(int from, int to, long count, int flags) {
        return Copies.SPLICE.call(captured, from, 0, to, 0, count, flags);
    }

    @Override
    public int pollOne(int fd, int events) {
        pollfd.set(JAVA_INT, 0, fd);
        pollfd.set(JAVA_INT, Integer.BYTES, events & 0xffff);
        int ready = (int) Poll.POLL.call(captured, pollfd.address(), 1L, 0);
        return ready <= 0 ? ready : pollfd.get(JAVA_INT, Integer.BYTES) >>> 16;
    }
}
