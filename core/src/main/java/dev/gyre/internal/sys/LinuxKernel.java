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
///
/// All of them are invoked in one method, [#call], and on purpose: it is too large for C2 to inline (325
/// bytecodes, `FreqInlineSize`), so it is compiled on its own, whoever calls. The JDK makes an object for each
/// call that captures errno, and C2 removes it only where it can still inline, which some fifteen calls
/// down it no longer does (`MaxInlineLevel`). Inside here it always can.
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

    private static final class Uring {
        static final MethodHandle SETUP =
                linkVariadic("syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    // The calls, by number.
    private static final int EPOLL_CREATE1 = 0;
    private static final int EPOLL_CTL = 1;
    private static final int EPOLL_WAIT = 2;
    private static final int EPOLL_PWAIT2 = 3;
    private static final int EVENTFD = 4;
    private static final int TIMERFD_CREATE = 5;
    private static final int TIMERFD_SETTIME = 6;
    private static final int READ = 7;
    private static final int WRITE = 8;
    private static final int CLOSE = 9;
    private static final int FCNTL = 10;
    private static final int PIPE2 = 11;
    private static final int SOCKETPAIR = 12;
    private static final int GETRLIMIT = 13;
    private static final int IO_URING_SETUP = 14;

    /// Makes a call.
    ///
    /// @return what it returned, or `-errno`
    private long call(int call, long a, long b, long c, long d) {
        try {
            long returned =
                    switch (call) {
                        case EPOLL_CREATE1 -> (int) Epoll.CREATE1.invokeExact(captured, (int) a);
                        case EPOLL_CTL ->
                                (int) Epoll.CTL.invokeExact(captured, (int) a, (int) b, (int) c, d);
                        case EPOLL_WAIT ->
                                (int)
                                        Epoll.WAIT.invokeExact(
                                                captured, (int) a, b, (int) c, (int) d);
                        case EPOLL_PWAIT2 ->
                                (int)
                                        Epoll.PWAIT2.invokeExact(
                                                captured, (int) a, b, (int) c, d, 0L);
                        case EVENTFD ->
                                (int) Eventfd.CREATE.invokeExact(captured, (int) a, (int) b);
                        case TIMERFD_CREATE ->
                                (int) Timerfd.CREATE.invokeExact(captured, (int) a, (int) b);
                        case TIMERFD_SETTIME ->
                                (int)
                                        Timerfd.SETTIME.invokeExact(
                                                captured, (int) a, (int) b, c, 0L);
                        case READ -> (long) Descriptors.READ.invokeExact(captured, (int) a, b, c);
                        case WRITE -> (long) Descriptors.WRITE.invokeExact(captured, (int) a, b, c);
                        case CLOSE -> (int) Descriptors.CLOSE.invokeExact(captured, (int) a);
                        case FCNTL ->
                                (int) Fcntl.CALL.invokeExact(captured, (int) a, (int) b, (int) c);
                        case PIPE2 -> (int) Pairs.PIPE2.invokeExact(captured, a, (int) b);
                        case SOCKETPAIR ->
                                (int)
                                        Pairs.SOCKETPAIR.invokeExact(
                                                captured, (int) a, (int) b, (int) c, d);
                        case GETRLIMIT -> (int) Rlimit.GET.invokeExact(captured, (int) a, b);
                        case IO_URING_SETUP ->
                                (long)
                                        Uring.SETUP.invokeExact(
                                                captured, (long) Linux.SYS_io_uring_setup, a, b);
                        default -> throw new AssertionError("no such call: " + call);
                    };
            return Linkage.result(captured, returned);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int epollCreate1(int flags) {
        return (int) call(EPOLL_CREATE1, flags, 0, 0, 0);
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        return (int) call(EPOLL_CTL, epfd, operation, fd, eventAddress);
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        return (int) call(EPOLL_WAIT, epfd, eventsAddress, maxEvents, timeoutMillis);
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        if (!Epoll.HAS_PWAIT2) {
            return -Errno.ENOSYS;
        }
        return (int) call(EPOLL_PWAIT2, epfd, eventsAddress, maxEvents, timespecAddress);
    }

    @Override
    public int eventfd(int initialValue, int flags) {
        return (int) call(EVENTFD, initialValue, flags, 0, 0);
    }

    @Override
    public int timerfdCreate(int clockId, int flags) {
        return (int) call(TIMERFD_CREATE, clockId, flags, 0, 0);
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        return (int) call(TIMERFD_SETTIME, fd, flags, newValueAddress, 0);
    }

    @Override
    public long read(int fd, long address, long count) {
        return call(READ, fd, address, count, 0);
    }

    @Override
    public long write(int fd, long address, long count) {
        return call(WRITE, fd, address, count, 0);
    }

    @Override
    public int close(int fd) {
        return (int) call(CLOSE, fd, 0, 0, 0);
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        return (int) call(FCNTL, fd, command, argument, 0);
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        return (int) call(PIPE2, pairAddress, flags, 0, 0);
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        return (int) call(SOCKETPAIR, domain, type, protocol, pairAddress);
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        return (int) call(GETRLIMIT, resource, rlimitAddress, 0, 0);
    }

    @Override
    public int ioUringSetup(int entries, long paramsAddress) {
        return (int) call(IO_URING_SETUP, entries, paramsAddress, 0, 0);
    }
}
