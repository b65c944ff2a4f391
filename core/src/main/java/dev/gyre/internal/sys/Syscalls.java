package dev.gyre.internal.sys;

import java.util.function.Supplier;

/// All of the seam that descriptors are used through, as makers of instances: an instance serves one
/// thread at a time. The memory calls serve any.
///
/// @param limit the open-file limit for descriptors opened through it
public record Syscalls(
        Supplier<? extends PollSyscalls> kernels,
        Supplier<? extends SocketCalls> sockets,
        Supplier<? extends FileCalls> files,
        DescriptorLimit limit,
        MemoryCalls memory) {

    /// With the real memory.
    public Syscalls(
            Supplier<? extends PollSyscalls> kernels,
            Supplier<? extends SocketCalls> sockets,
            Supplier<? extends FileCalls> files,
            DescriptorLimit limit) {
        this(kernels, sockets, files, limit, LinuxMemoryCalls.INSTANCE);
    }

    /// The real one, a new instance each time: for one who keeps it.
    public static final Syscalls LINUX =
            new Syscalls(LinuxPollSyscalls::new, LinuxSocketCalls::new, LinuxFileCalls::new);

    /// The real one, the calling thread's instance: for those that are called by any.
    public static final Syscalls LINUX_BY_THREAD =
            new Syscalls(
                    LinuxPollSyscalls::ofThread,
                    LinuxSocketCalls::ofThread,
                    LinuxFileCalls::new,
                    LINUX.limit);

    /// One with descriptors of its own.
    public Syscalls(
            Supplier<? extends PollSyscalls> kernels,
            Supplier<? extends SocketCalls> sockets,
            Supplier<? extends FileCalls> files) {
        this(kernels, sockets, files, new DescriptorLimit(kernels));
    }

    /// The same calls for those that are called by any thread: what is real is the calling thread's instance, what
    /// is not stays what it is.
    public Syscalls byThread() {
        return new Syscalls(
                kernels.equals(LINUX.kernels) ? LINUX_BY_THREAD.kernels : kernels,
                sockets.equals(LINUX.sockets) ? LINUX_BY_THREAD.sockets : sockets,
                files,
                limit,
                memory);
    }
}
