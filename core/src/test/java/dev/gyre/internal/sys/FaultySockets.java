package dev.gyre.internal.sys;

import dev.gyre.internal.sys.FaultyKernel.Plan;

import java.util.function.LongSupplier;

/// The real socket calls with injected faults: any can return any value, by a [Plan] under its name
/// in the manual. Transfers can be cut short by [#atMost].
public final class FaultySockets implements SocketCalls {
    /// Values from here on are not results but the maximum bytes of the call.
    private static final long CUT = 1L << 40;

    private final SocketCalls real = new LinuxSocketCalls();
    private final Plan plan;

    public FaultySockets(Plan plan) {
        this.plan = plan;
    }

    /// A value for [Plan#answer]: the call is made, with at most that many bytes. Zero: the call is
    /// not made and returns zero.
    public static LongSupplier atMost(long bytes) {
        return () -> CUT + bytes;
    }

    /// Returns the maximum bytes of the next transfer, or a negative result.
    static long cut(Plan plan, String call, int fd, long count) {
        LongSupplier fault = plan.next(call, fd);
        if (fault == null) {
            return count;
        }
        long answer = fault.getAsLong();
        return answer >= CUT ? Math.min(count, answer - CUT) : answer;
    }

    private int call(String name, int fd, LongSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return (int) (fault == null ? really.getAsLong() : fault.getAsLong());
    }

    @Override
    public int socket(int domain, int type, int protocol) {
        return plan.opened(call("socket", -1, () -> real.socket(domain, type, protocol)));
    }

    @Override
    public int bind(int fd, long address, int length) {
        return call("bind", fd, () -> real.bind(fd, address, length));
    }

    @Override
    public int listen(int fd, int backlog) {
        return call("listen", fd, () -> real.listen(fd, backlog));
    }

    @Override
    public int accept4(int fd, long address, long lengthAddress, int flags) {
        return plan.opened(
                call("accept4", fd, () -> real.accept4(fd, address, lengthAddress, flags)));
    }

    @Override
    public int connect(int fd, long address, int length) {
        return call("connect", fd, () -> real.connect(fd, address, length));
    }

    @Override
    public int getsockname(int fd, long address, long lengthAddress) {
        return call("getsockname", fd, () -> real.getsockname(fd, address, lengthAddress));
    }

    @Override
    public int getpeername(int fd, long address, long lengthAddress) {
        return call("getpeername", fd, () -> real.getpeername(fd, address, lengthAddress));
    }

    @Override
    public int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress) {
        return call(
                "getsockopt",
                fd,
                () -> real.getsockopt(fd, level, option, valueAddress, lengthAddress));
    }

    @Override
    public int setsockopt(int fd, int level, int option, long valueAddress, int length) {
        return call(
                "setsockopt", fd, () -> real.setsockopt(fd, level, option, valueAddress, length));
    }

    @Override
    public int shutdown(int fd, int how) {
        return call("shutdown", fd, () -> real.shutdown(fd, how));
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        long most = cut(plan, "recv", fd, count);
        return most <= 0 ? most : real.recv(fd, address, most, flags);
    }

    @Override
    public long send(int fd, long address, long count, int flags) {
        if ((flags & Linux.MSG_MORE) != 0) {
            plan.note("MSG_MORE", fd);
        }
        long most = cut(plan, "send", fd, count);
        return most <= 0 ? most : real.send(fd, address, most, flags);
    }

    @Override
    public long recvmsg(int fd, long messageAddress, int flags) {
        return call("recvmsg", fd, () -> real.recvmsg(fd, messageAddress, flags));
    }

    @Override
    public long sendmsg(int fd, long messageAddress, int flags) {
        return call("sendmsg", fd, () -> real.sendmsg(fd, messageAddress, flags));
    }

    @Override
    public long readv(int fd, long iovecsAddress, int count) {
        long most = cut(plan, "readv", fd, Long.MAX_VALUE);
        return most <= 0
                ? most
                : vectors(iovecsAddress, count, most, n -> real.readv(fd, iovecsAddress, n));
    }

    @Override
    public long writev(int fd, long iovecsAddress, int count) {
        long most = cut(plan, "writev", fd, Long.MAX_VALUE);
        return most <= 0
                ? most
                : vectors(iovecsAddress, count, most, n -> real.writev(fd, iovecsAddress, n));
    }

    @FunctionalInterface
    private interface VectorCall {
        long of(int count);
    }

    /// Calls with as many vectors as hold that many bytes; the last one is shortened during the
    /// call.
    private static long vectors(long iovecs, int count, long most, VectorCall call) {
        long left = most;
        for (int i = 0; i < count; i++) {
            long length = iovecs + (long) i * Linux.SIZEOF_IOVEC + Linux.OFFSETOF_IOVEC_LEN;
            long size = Memory.getLong(length);
            if (size > left) {
                Memory.putLong(length, left);
                long result = call.of(i + 1);
                Memory.putLong(length, size);
                return result;
            }
            left -= size;
        }
        return call.of(count);
    }

    @Override
    public long sendfile(int socket, int file, long offset, long count) {
        long most = cut(plan, "sendfile", socket, count);
        return most <= 0 ? most : real.sendfile(socket, file, offset, most);
    }

    @Override
    public long splice(int from, int to, long count, int flags) {
        long most = cut(plan, "splice", from, count);
        return most <= 0 ? most : real.splice(from, to, most, flags);
    }

    @Override
    public int pollOne(int fd, int events) {
        return call("poll", fd, () -> real.pollOne(fd, events));
    }
}
