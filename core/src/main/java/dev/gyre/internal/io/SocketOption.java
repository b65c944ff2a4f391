package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.Syscalls;

/// An option of sockets that is a number, under the kernel's name. Any thread.
public enum SocketOption {
    SO_REUSEADDR(Linux.SOL_SOCKET, Linux.SO_REUSEADDR),
    SO_REUSEPORT(Linux.SOL_SOCKET, Linux.SO_REUSEPORT),
    SO_BROADCAST(Linux.SOL_SOCKET, Linux.SO_BROADCAST),

    /// The pending errno of the socket; zero if none. Reading clears it.
    SO_ERROR(Linux.SOL_SOCKET, Linux.SO_ERROR),

    /// In bytes. Linux doubles it, for its own records, and cuts it to what the system allows.
    SO_SNDBUF(Linux.SOL_SOCKET, Linux.SO_SNDBUF),
    SO_RCVBUF(Linux.SOL_SOCKET, Linux.SO_RCVBUF),
    SO_KEEPALIVE(Linux.SOL_SOCKET, Linux.SO_KEEPALIVE),
    TCP_NODELAY(Linux.IPPROTO_TCP, Linux.TCP_NODELAY),

    /// In seconds.
    TCP_KEEPIDLE(Linux.IPPROTO_TCP, Linux.TCP_KEEPIDLE),
    TCP_KEEPINTVL(Linux.IPPROTO_TCP, Linux.TCP_KEEPINTVL),
    TCP_KEEPCNT(Linux.IPPROTO_TCP, Linux.TCP_KEEPCNT),

    /// In milliseconds.
    TCP_USER_TIMEOUT(Linux.IPPROTO_TCP, Linux.TCP_USER_TIMEOUT),
    IPV6_V6ONLY(Linux.IPPROTO_IPV6, Linux.IPV6_V6ONLY);

    /// A value, and its length behind it. By thread, or each option of each connection would leave memory to the
    /// garbage collector.
    private static final ThreadLocal<NativeBytes> SCRATCH =
            ThreadLocal.withInitial(() -> NativeBytes.allocate(2L * Linux.SIZEOF_LINGER));

    private final int level;
    private final int number;

    SocketOption(int level, int number) {
        this.level = level;
        this.number = number;
    }

    /// Sets it.
    ///
    /// @throws SystemCallException that names it and the value, if the kernel refuses
    public void set(Syscalls seam, OpenDescriptor socket, int value) {
        long memory = SCRATCH.get().address();
        Memory.putInt(memory, value);
        set(seam, socket, level, number, memory, Integer.BYTES, this + " to " + value);
    }

    public int get(Syscalls seam, OpenDescriptor socket) {
        long memory = SCRATCH.get().address();
        long length = memory + Linux.SIZEOF_LINGER;
        Memory.putInt(length, Integer.BYTES);
        int result =
                socket.use(
                        fd -> seam.sockets().get().getsockopt(fd, level, number, memory, length));
        if (result < 0) {
            throw new SystemCallException(
                    "getsockopt(" + this + ")", -result, socket.lifetime().fd);
        }
        return Memory.getInt(memory);
    }

    /// Has closing it drop what is not sent yet and tell the peer by a reset.
    public static void resetOnClose(Syscalls seam, OpenDescriptor socket) {
        long memory = SCRATCH.get().address();
        Memory.putInt(memory, 1);
        Memory.putInt(memory + Integer.BYTES, 0);
        set(
                seam,
                socket,
                Linux.SOL_SOCKET,
                Linux.SO_LINGER,
                memory,
                Linux.SIZEOF_LINGER,
                "SO_LINGER to no time at all");
    }

    private static void set(
            Syscalls seam,
            OpenDescriptor socket,
            int level,
            int option,
            long memory,
            int length,
            String what) {
        int result =
                socket.use(
                        fd -> seam.sockets().get().setsockopt(fd, level, option, memory, length));
        if (result < 0) {
            throw new SystemCallException(
                    "setsockopt",
                    -result,
                    "cannot set " + what + " on " + socket,
                    Errno.hint("setsockopt", -result));
        }
    }
}
