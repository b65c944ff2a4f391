package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real socket calls, through libc; linked when first used, as in [LinuxKernel].
public final class LinuxSocketCalls implements SocketCalls {
    private static final ThreadLocal<LinuxSocketCalls> OF_THREAD =
            ThreadLocal.withInitial(LinuxSocketCalls::new);

    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private final MemorySegment fileOffset = Memory.allocate(Long.BYTES);

    /// `struct pollfd`: the descriptor, and in two bytes each what is asked and what is answered.
    private final MemorySegment pollfd = Memory.allocate(2 * Integer.BYTES);

    /// The instance of the calling thread, for those that are called by any.
    public static LinuxSocketCalls ofThread() {
        return OF_THREAD.get();
    }

    private static final class Making {
        static final MethodHandle SOCKET = link("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
        static final MethodHandle BIND = link("bind", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle LISTEN = link("listen", JAVA_INT, JAVA_INT, JAVA_INT);
        static final MethodHandle GETSOCKNAME =
                link("getsockname", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle GETPEERNAME =
                link("getpeername", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class Options {
        static final MethodHandle GETSOCKOPT =
                link("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SETSOCKOPT =
                link("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    private static final class Meeting {
        static final MethodHandle ACCEPT4 =
                link("accept4", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
        static final MethodHandle CONNECT =
                link("connect", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle SHUTDOWN = link("shutdown", JAVA_INT, JAVA_INT, JAVA_INT);
    }

    private static final class Bytes {
        static final MethodHandle RECV =
                link("recv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
        static final MethodHandle SEND =
                link("send", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    }

    private static final class Messages {
        static final MethodHandle RECVMSG =
                link("recvmsg", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle SENDMSG =
                link("sendmsg", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    private static final class Vectors {
        static final MethodHandle READV = link("readv", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle WRITEV = link("writev", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    }

    private static final class Polling {
        static final MethodHandle POLL = link("poll", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    }

    private static final class Moving {
        static final MethodHandle SENDFILE =
                link("sendfile", JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle SPLICE =
                link(
                        "splice", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG,
                        JAVA_INT);
    }

    @Override
    public int socket(int domain, int type, int protocol) {
        try {
            return result((int) Making.SOCKET.invokeExact(captured, domain, type, protocol));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int bind(int fd, long address, int length) {
        try {
            return result((int) Making.BIND.invokeExact(captured, fd, address, length));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int listen(int fd, int backlog) {
        try {
            return result((int) Making.LISTEN.invokeExact(captured, fd, backlog));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int accept4(int fd, long address, long lengthAddress, int flags) {
        try {
            return result(
                    (int) Meeting.ACCEPT4.invokeExact(captured, fd, address, lengthAddress, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int connect(int fd, long address, int length) {
        try {
            return result((int) Meeting.CONNECT.invokeExact(captured, fd, address, length));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int getsockname(int fd, long address, long lengthAddress) {
        try {
            return result(
                    (int) Making.GETSOCKNAME.invokeExact(captured, fd, address, lengthAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int getpeername(int fd, long address, long lengthAddress) {
        try {
            return result(
                    (int) Making.GETPEERNAME.invokeExact(captured, fd, address, lengthAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress) {
        try {
            return result(
                    (int)
                            Options.GETSOCKOPT.invokeExact(
                                    captured, fd, level, option, valueAddress, lengthAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int setsockopt(int fd, int level, int option, long valueAddress, int length) {
        try {
            return result(
                    (int)
                            Options.SETSOCKOPT.invokeExact(
                                    captured, fd, level, option, valueAddress, length));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int shutdown(int fd, int how) {
        try {
            return result((int) Meeting.SHUTDOWN.invokeExact(captured, fd, how));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        try {
            return result((long) Bytes.RECV.invokeExact(captured, fd, address, count, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long send(int fd, long address, long count, int flags) {
        try {
            return result((long) Bytes.SEND.invokeExact(captured, fd, address, count, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long recvmsg(int fd, long messageAddress, int flags) {
        try {
            return result((long) Messages.RECVMSG.invokeExact(captured, fd, messageAddress, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long sendmsg(int fd, long messageAddress, int flags) {
        try {
            return result((long) Messages.SENDMSG.invokeExact(captured, fd, messageAddress, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long readv(int fd, long iovecsAddress, int count) {
        try {
            return result((long) Vectors.READV.invokeExact(captured, fd, iovecsAddress, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long writev(int fd, long iovecsAddress, int count) {
        try {
            return result((long) Vectors.WRITEV.invokeExact(captured, fd, iovecsAddress, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long sendfile(int socket, int file, long offset, long count) {
        fileOffset.set(JAVA_LONG, 0, offset);
        try {
            return result(
                    (long)
                            Moving.SENDFILE.invokeExact(
                                    captured, socket, file, fileOffset.address(), count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long splice(int from, int to, long count, int flags) {
        try {
            return result(
                    (long) Moving.SPLICE.invokeExact(captured, from, 0L, to, 0L, count, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pollOne(int fd, int events) {
        pollfd.set(JAVA_INT, 0, fd);
        pollfd.set(JAVA_INT, Integer.BYTES, events & 0xffff);
        try {
            int ready = result((int) Polling.POLL.invokeExact(captured, pollfd.address(), 1L, 0));
            return ready <= 0 ? ready : pollfd.get(JAVA_INT, Integer.BYTES) >>> 16;
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private int result(int returned) {
        return Linkage.result(captured, returned);
    }

    private long result(long returned) {
        return Linkage.result(captured, returned);
    }
}
