package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.findIntFunction;
import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;
import static dev.gyre.internal.sys.Linkage.variadicInt;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// The real kernel, called through libc.
///
/// A holder class links each group of functions at first use, so a program that never creates a
/// timerfd does not pay for one. The functions are static final: see [CFunction].
public final class LinuxPollCalls implements PollCalls {
    // One thread at a time: the owner of this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final ThreadLocal<LinuxPollCalls> OF_THREAD =
            ThreadLocal.withInitial(LinuxPollCalls::new);

    /// Returns the instance of the calling thread, for code that any thread may call.
    public static LinuxPollCalls ofThread() {
        return OF_THREAD.get();
    }

    private static final class Epoll {
        static final CFunction CREATE1 = intFunction("epoll_create1");
        static final CFunction CTL = intFunction("epoll_ctl");
        static final CFunction WAIT = intFunction("epoll_wait");
        static final Optional<CFunction> PWAIT2_IF_PRESENT = findIntFunction("epoll_pwait2");
        static final boolean HAS_PWAIT2 = PWAIT2_IF_PRESENT.isPresent();
        // The fallback is never invoked; it keeps the field a constant the JIT can trust.
        static final CFunction PWAIT2 = PWAIT2_IF_PRESENT.orElse(WAIT);
    }

    private static final class Descriptors {
        static final CFunction READ = longFunction("read");
        static final CFunction WRITE = longFunction("write");
        static final CFunction CLOSE = intFunction("close");
    }

    private static final class Eventfd {
        static final CFunction CREATE = intFunction("eventfd");
    }

    private static final class Timerfd {
        static final CFunction CREATE = intFunction("timerfd_create");
        static final CFunction SETTIME = intFunction("timerfd_settime");
    }

    private static final class Pairs {
        static final CFunction PIPE2 = intFunction("pipe2");
        static final CFunction SOCKETPAIR = intFunction("socketpair");
    }

    private static final class Fcntl {
        static final CFunction CALL = variadicInt("fcntl", 2);
    }

    private static final class Rlimit {
        static final CFunction GET = intFunction("getrlimit");
    }

    @Override
    public int epollCreate1(int flags) {
        return (int) Epoll.CREATE1.call(captured, flags);
    }

    @Override
    public int epollCtl(int epfd, int operation, int fd, long eventAddress) {
        return (int) Epoll.CTL.call(captured, epfd, operation, fd, eventAddress);
    }

    @Override
    public int epollWait(int epfd, long eventsAddress, int maxEvents, int timeoutMillis) {
        return (int) Epoll.WAIT.call(captured, epfd, eventsAddress, maxEvents, timeoutMillis);
    }

    @Override
    public int epollPwait2(int epfd, long eventsAddress, int maxEvents, long timespecAddress) {
        if (!Epoll.HAS_PWAIT2) {
            return -Errno.ENOSYS;
        }
        return (int)
                Epoll.PWAIT2.call(captured, epfd, eventsAddress, maxEvents, timespecAddress, 0);
    }

    @Override
    public int eventfd(int initialValue, int flags) {
        return (int) Eventfd.CREATE.call(captured, initialValue, flags);
    }

    @Override
    public int timerfdCreate(int clockId, int flags) {
        return (int) Timerfd.CREATE.call(captured, clockId, flags);
    }

    @Override
    public int timerfdSettime(int fd, int flags, long newValueAddress) {
        return (int) Timerfd.SETTIME.call(captured, fd, flags, newValueAddress, 0);
    }

    @Override
    public long read(int fd, long address, long count) {
        return Descriptors.READ.call(captured, fd, address, count);
    }

    @Override
    public long write(int fd, long address, long count) {
        return Descriptors.WRITE.call(captured, fd, address, count);
    }

    @Override
    public int close(int fd) {
        return (int) Descriptors.CLOSE.call(captured, fd);
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        return (int) Fcntl.CALL.call(captured, fd, command, argument);
    }

    @Override
    public int pipe2(long pairAddress, int flags) {
        return (int) Pairs.PIPE2.call(captured, pairAddress, flags);
    }

    @Override
    public int socketpair(int domain, int type, int protocol, long pairAddress) {
        return (int) Pairs.SOCKETPAIR.call(captured, domain, type, protocol, pairAddress);
    }

    @Override
    public int getrlimit(int resource, long rlimitAddress) {
        return (int) Rlimit.GET.call(captured, resource, rlimitAddress);
    }
}
