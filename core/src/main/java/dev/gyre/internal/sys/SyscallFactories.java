package dev.gyre.internal.sys;

import java.util.function.Supplier;

/// The system calls for descriptors, as factories: an instance serves one thread at a time. The
/// memory calls serve any thread.
///
/// @param limit the open-file limit of descriptors opened through these calls
public record SyscallFactories(
        Supplier<? extends PollCalls> kernels,
        Supplier<? extends SocketCalls> sockets,
        Supplier<? extends FileCalls> files,
        DescriptorLimit limit,
        MemoryCalls memory) {

    /// Creates one with the real memory calls.
    public SyscallFactories(
            Supplier<? extends PollCalls> kernels,
            Supplier<? extends SocketCalls> sockets,
            Supplier<? extends FileCalls> files,
            DescriptorLimit limit) {
        this(kernels, sockets, files, limit, LinuxMemoryCalls.INSTANCE);
    }

    /// The real calls, a new instance each time, for an owner that keeps it.
    public static final SyscallFactories LINUX =
            new SyscallFactories(LinuxPollCalls::new, LinuxSocketCalls::new, LinuxFileCalls::new);

    /// The real calls, the instance of the calling thread, for code that any thread may call.
    public static final SyscallFactories LINUX_BY_THREAD =
            new SyscallFactories(
                    LinuxPollCalls::ofThread,
                    LinuxSocketCalls::ofThread,
                    LinuxFileCalls::new,
                    LINUX.limit);

    /// Creates one with an open-file limit of its own.
    public SyscallFactories(
            Supplier<? extends PollCalls> kernels,
            Supplier<? extends SocketCalls> sockets,
            Supplier<? extends FileCalls> files) {
        this(kernels, sockets, files, new DescriptorLimit(kernels));
    }

    /// Returns the same calls for code that any thread may call: real calls become the instance of
    /// the calling thread, substituted ones stay.
    public SyscallFactories byThread() {
        return new SyscallFactories(
                kernels.equals(LINUX.kernels) ? LINUX_BY_THREAD.kernels : kernels,
                sockets.equals(LINUX.sockets) ? LINUX_BY_THREAD.sockets : sockets,
                files,
                limit,
                memory);
    }
}
