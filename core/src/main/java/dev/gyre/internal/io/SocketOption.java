package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;

import java.lang.ref.Reference;

/// The integer options of sockets, under the kernel's names. Any thread.
public enum SocketOption {
    SO_TYPE(Linux.SOL_SOCKET, Linux.SO_TYPE),
    SO_REUSEADDR(Linux.SOL_SOCKET, Linux.SO_REUSEADDR),
    SO_REUSEPORT(Linux.SOL_SOCKET, Linux.SO_REUSEPORT),
    SO_BROADCAST(Linux.SOL_SOCKET, Linux.SO_BROADCAST),

    /// The pending errno of the socket; zero if none. Reading clears it.
    SO_ERROR(Linux.SOL_SOCKET, Linux.SO_ERROR),

    /// In bytes. Linux doubles it for its bookkeeping, and lowers it to the system's limit.
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

    /// A value followed by its length. Per thread, to avoid an allocation per option and
    /// connection.
    private static final ThreadLocal<NativeBytes> SCRATCH =
            ThreadLocal.withInitial(() -> NativeBytes.allocate(2L * Linux.SIZEOF_LINGER));

    private final int level;
    private final int number;

    SocketOption(int level, int number) {
        this.level = level;
        this.number = number;
    }

    /// Sets the option.
    ///
    /// @throws SystemCallException if the kernel refuses; names the option and the value
    public void set(SyscallFactories syscalls, OpenDescriptor socket, int value) {
        long memory = SCRATCH.get().address();
        Memory.putInt(memory, value);
        set(syscalls, socket, level, number, memory, Integer.BYTES, this + " to " + value);
    }

    public int get(SyscallFactories syscalls, OpenDescriptor socket) {
        int value = socket.use(fd -> get(syscalls, fd));
        if (value < 0) {
            throw new SystemCallException("getsockopt(" + this + ")", -value, socket.lifetime().fd);
        }
        return value;
    }

    /// Returns the value, which is never negative, or `-errno`.
    int get(SyscallFactories syscalls, int fd) {
        long memory = SCRATCH.get().address();
        long length = memory + Linux.SIZEOF_LINGER;
        Memory.putInt(length, Integer.BYTES);
        int result = syscalls.sockets().get().getsockopt(fd, level, number, memory, length);
        return result < 0 ? result : Memory.getInt(memory);
    }

    /// Makes the close of a socket drop unsent output and send a reset.
    public static void resetOnClose(SyscallFactories syscalls, OpenDescriptor socket) {
        long memory = SCRATCH.get().address();
        Memory.putInt(memory, 1);
        Memory.putInt(memory + Integer.BYTES, 0);
        set(
                syscalls,
                socket,
                Linux.SOL_SOCKET,
                Linux.SO_LINGER,
                memory,
                Linux.SIZEOF_LINGER,
                "SO_LINGER to 0 seconds");
    }

    /// Makes the kernel select a socket of a `SO_REUSEPORT` group by the processor that received
    /// the connection: its number modulo the size of the group. Applies to the whole group.
    public static void steerByProcessor(
            SyscallFactories syscalls, OpenDescriptor socket, int sockets) {
        int[] codes = {Linux.BPF_LD_W_ABS, Linux.BPF_ALU_MOD_K, Linux.BPF_RET_A};
        int[] operands = {Linux.SKF_AD_OFF_CPU, sockets, 0};
        NativeBytes memory =
                NativeBytes.allocate(
                        Linux.SIZEOF_SOCK_FPROG + (long) codes.length * Linux.SIZEOF_SOCK_FILTER);
        long program = memory.address();
        long filter = program + Linux.SIZEOF_SOCK_FPROG;
        Memory.putInt(program, codes.length); // Little-endian, and padding follows.
        Memory.putLong(program + Linux.OFFSETOF_SOCK_FPROG_FILTER, filter);
        for (int i = 0; i < codes.length; i++) {
            Memory.putInt(filter + (long) i * Linux.SIZEOF_SOCK_FILTER, codes[i]);
            Memory.putInt(filter + (long) i * Linux.SIZEOF_SOCK_FILTER + 4, operands[i]);
        }
        try {
            set(
                    syscalls,
                    socket,
                    Linux.SOL_SOCKET,
                    Linux.SO_ATTACH_REUSEPORT_CBPF,
                    program,
                    Linux.SIZEOF_SOCK_FPROG,
                    "SO_ATTACH_REUSEPORT_CBPF (Distribution.REUSE_PORT_BY_CPU)");
        } finally {
            Reference.reachabilityFence(memory);
        }
    }

    private static void set(
            SyscallFactories syscalls,
            OpenDescriptor socket,
            int level,
            int option,
            long memory,
            int length,
            String what) {
        SocketCalls calls = syscalls.sockets().get();
        int result = socket.use(fd -> calls.setsockopt(fd, level, option, memory, length));
        if (result < 0) {
            throw new SystemCallException(
                    "setsockopt",
                    -result,
                    "cannot set " + what + " on " + socket,
                    Errno.hint("setsockopt", -result));
        }
    }
}
