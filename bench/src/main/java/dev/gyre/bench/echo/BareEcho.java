package dev.gyre.bench.echo;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.gyre.internal.sys.Linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// `echo-server.c` in Java, step by step. The difference to it is the cost of the JVM, and the
/// difference from this to a loop the cost of the loop. It calls no code of Gyre.
///
/// It does not read errno. An interrupted wait has no events, and every later error closes the
/// connection.
public final class BareEcho {
    private static final int EVENTS = 512;
    private static final int BUFFER_BYTES = 65_536;
    private static final int BACKLOG = 1_024;
    private static final int AF_INET = 2;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int SIZEOF_SOCKADDR_IN = 16;
    private static final int NONBLOCK = Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC;

    private static final MethodHandle SOCKET = ofInts("socket", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = ofInts("bind", JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle LISTEN = ofInts("listen", JAVA_INT, JAVA_INT);
    private static final MethodHandle NAME = ofInts("getsockname", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle ACCEPT =
            ofInts("accept4", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle OPTION =
            ofInts("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle CLOSE = ofInts("close", JAVA_INT);
    private static final MethodHandle EPOLL = ofInts("epoll_create1", JAVA_INT);
    private static final MethodHandle CONTROL =
            ofInts("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle WAIT =
            ofInts("epoll_wait", JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
    private static final MethodHandle RECV =
            link("recv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle SEND =
            link("send", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    // Constants for the JIT, like a static array in C.
    private static final MemorySegment TABLE =
            Arena.global().allocate((long) EVENTS * Linux.SIZEOF_EPOLL_EVENT, Long.BYTES);
    private static final MemorySegment SCRATCH = Arena.global().allocate(64, Long.BYTES);
    private static final long BUFFER = Arena.global().allocate(BUFFER_BYTES).address();

    private BareEcho() {}

    public static void main(String[] args) throws Throwable {
        int epfd = check("epoll_create1", (int) EPOLL.invokeExact(Linux.EPOLL_CLOEXEC));
        int listener = listen();
        watch(epfd, listener);
        while (true) {
            serve(epfd, listener);
        }
    }

    private static void serve(int epfd, int listener) throws Throwable {
        int count = (int) WAIT.invokeExact(epfd, TABLE.address(), EVENTS, -1);
        for (int i = 0; i < count; i++) {
            long event = (long) i * Linux.SIZEOF_EPOLL_EVENT;
            int fd = TABLE.get(JAVA_INT_UNALIGNED, event + Linux.OFFSETOF_EPOLL_EVENT_DATA);
            if (fd == listener) {
                acceptAll(epfd, listener);
                continue;
            }
            long received = (long) RECV.invokeExact(fd, BUFFER, (long) BUFFER_BYTES, 0);
            if (received <= 0
                    || (long) SEND.invokeExact(fd, BUFFER, received, MSG_NOSIGNAL) != received) {
                int _ = (int) CLOSE.invokeExact(fd);
            }
        }
    }

    private static void acceptAll(int epfd, int listener) throws Throwable {
        int fd;
        while ((fd = (int) ACCEPT.invokeExact(listener, 0L, 0L, NONBLOCK)) >= 0) {
            SCRATCH.set(JAVA_INT, 0, 1);
            check(
                    "setsockopt",
                    (int)
                            OPTION.invokeExact(
                                    fd,
                                    IPPROTO_TCP,
                                    TCP_NODELAY,
                                    SCRATCH.address(),
                                    Integer.BYTES));
            watch(epfd, fd);
        }
    }

    private static void watch(int epfd, int fd) throws Throwable {
        SCRATCH.set(JAVA_INT_UNALIGNED, Linux.OFFSETOF_EPOLL_EVENT_EVENTS, Linux.EPOLLIN);
        SCRATCH.set(JAVA_INT_UNALIGNED, Linux.OFFSETOF_EPOLL_EVENT_DATA, fd);
        int result = (int) CONTROL.invokeExact(epfd, Linux.EPOLL_CTL_ADD, fd, SCRATCH.address());
        check("epoll_ctl", result);
    }

    /// Binds to a free port of the loopback interface. In network order, 127.0.0.1 begins with 127.
    private static int listen() throws Throwable {
        MemorySegment address = Arena.global().allocate(SIZEOF_SOCKADDR_IN, Long.BYTES);
        address.set(JAVA_SHORT_UNALIGNED, 0, (short) AF_INET);
        address.asByteBuffer().position(4).put(new byte[] {127, 0, 0, 1});
        int fd =
                check("socket", (int) SOCKET.invokeExact(AF_INET, Linux.SOCK_STREAM | NONBLOCK, 0));
        check("bind", (int) BIND.invokeExact(fd, address.address(), SIZEOF_SOCKADDR_IN));
        check("listen", (int) LISTEN.invokeExact(fd, BACKLOG));
        SCRATCH.set(JAVA_INT, 0, SIZEOF_SOCKADDR_IN);
        check("getsockname", (int) NAME.invokeExact(fd, address.address(), SCRATCH.address()));
        Announcement.listening(Short.toUnsignedInt(address.asByteBuffer().getShort(2)));
        return fd;
    }

    private static int check(String call, int result) {
        if (result < 0) {
            throw new IllegalStateException(call + " failed");
        }
        return result;
    }

    private static MethodHandle ofInts(String name, MemoryLayout... arguments) {
        return link(name, JAVA_INT, arguments);
    }

    @SuppressWarnings("restricted") // bare, on purpose
    private static MethodHandle link(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        MemorySegment address = linker.defaultLookup().find(name).orElseThrow();
        return linker.downcallHandle(address, FunctionDescriptor.of(result, arguments));
    }
}
