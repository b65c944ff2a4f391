package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.find;
import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// The real kernel, called through libc.
///
/// Each group of calls is linked in a holder class of its own, when first used: linking costs about a
/// millisecond a call, and a program that never makes a timerfd should not pay for one. Handles are
/// static final and invoked exactly, so that the JIT compiles a call down to the state transition and the
/// native call itself.
public final class LinuxKernel implements Kernel {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final ThreadLocal<LinuxKernel> OF_THREAD =
            ThreadLocal.withInitial(LinuxKernel::new);

    /// The instance of the calling thread, for those that are called by any.
    public static LinuxKernel ofThread() {
        return OF_THREAD.get();
    }

    private static final class Epoll {
        static final MethodHandle CREATE1 = link("epoll_create1", JAVA_INT, JAVA_INT);
        static final MethodHandle CTL =
                link("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
        static final MethodHandle WAIT =
                link("epoll_wait", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT);
        static final Optional<MethodHandle> PWAIT2_IF_PRESENT =
                find("epoll_pwait2", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final boolean HAS_PWAIT2 = PWAIT2_IF_PRESENT.isPresent();
        // The fallback is never invoked; it keeps the field a constant the JIT can trust.
        static final MethodHandle PWAIT2 = PWAIT2_IF_PRESENT.orElse(WAIT);
    }

    private static final class Descriptors {
        static final MethodHandle READ = link("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle WRITE = link("write", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle CLOSE = link("close", JAVA_INT, JAVA_INT);
    }

    private static final class Eventfd {
        static final MethodHandle CREATE = link("eventfd", JAVA_INT, JAVA_INT, JAVA_INT);
    }

    private static final class Timerfd {
        static final MethodHandle CREATE = link("timerfd_create", JAVA_INT, JAVA_INT, JAVA_INT);
        static final MethodHandle SETTIME =
                link("timerfd_settime", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    }

    private static final class Pairs {
        static final MethodHandle PIPE2 = link("pipe2", JAVA_INT, JAVA_LONG, JAVA_INT);
        static final MethodHandle SOCKETPAIR =
                link("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    }

    private static final class Fcntl {
        static final MethodHandle CALL =
                linkVariadic("fcntl", JAVA_INT, 2, JAVA_INT, JAVA_INT, JAVA_INT);
    }

    private static final class Rlimit {
        static final MethodHandle GET = link("getrlimit", JAVA_INT, JAVA_INT, JAVA_LONG);
    }

    @Override
    public int epollCreate1(int flags) {
        try {
            return result((int) Epoll.CREATE1.invokeExact(captured, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        try {
            return result((int) Epoll.CTL.invokeExact(captured, epfd, operation, fd, eventAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        try {
            return result(
                    (int)
                            Epoll.WAIT.invokeExact(
                                    captured, epfd, eventsAddress, maxEvents, timeoutMillis));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        if (!Epoll.HAS_PWAIT2) {
            return -Errno.ENOSYS;
        }
        try {
            return result(
                    (int)
                            Epoll.PWAIT2.invokeExact(
                                    captured, epfd, eventsAddress, maxEvents, timespecAddress, 0L));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int eventfd(int initialValue, int flags) {
        try {
            return result((int) Eventfd.CREATE.invokeExact(captured, initialValue, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int timerfdCreate(int clockId, int flags) {
        try {
            return result((int) Timerfd.CREATE.invokeExact(captured, clockId, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        try {
            return result(
                    (int) Timerfd.SETTIME.invokeExact(captured, fd, flags, newValueAddress, 0L));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long read(int fd, long address, long count) {
        try {
            return result((long) Descriptors.READ.invokeExact(captured, fd, address, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long write(int fd, long address, long count) {
        try {
            return result((long) Descriptors.WRITE.invokeExact(captured, fd, address, count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int close(int fd) {
        try {
            return result((int) Descriptors.CLOSE.invokeExact(captured, fd));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        try {
            return result((int) Fcntl.CALL.invokeExact(captured, fd, command, argument));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        try {
            return result((int) Pairs.PIPE2.invokeExact(captured, pairAddress, flags));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        try {
            return result(
                    (int)
                            Pairs.SOCKETPAIR.invokeExact(
                                    captured, domain, type, protocol, pairAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        try {
            return result((int) Rlimit.GET.invokeExact(captured, resource, rlimitAddress));
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
