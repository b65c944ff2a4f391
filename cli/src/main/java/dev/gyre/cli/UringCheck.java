package dev.gyre.cli;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.UringCalls;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;

/// Sets up an io_uring, closes it, and then runs a loop on one.
final class UringCheck {
    static final Path DISABLED = Path.of("/proc/sys/kernel/io_uring_disabled");

    private UringCheck() {}

    /// @param disabled the sysctl file, absent on older kernels
    /// @param loop runs a loop on it; called only if the kernel allows io_uring
    static Finding run(PollCalls kernel, UringCalls calls, Path disabled, Supplier<Finding> loop) {
        MemorySegment params = Memory.allocate(IoUringAbi.SIZEOF_IO_URING_PARAMS);
        int fd;
        int features;
        try {
            fd = calls.setup(1, params.address());
            features =
                    Memory.getInt(params.address() + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FEATURES);
        } finally {
            Reference.reachabilityFence(params);
        }
        if (fd < 0) {
            return Finding.fails("the kernel refuses io_uring_setup, " + refusal(-fd, disabled));
        }
        kernel.close(fd);
        Finding finding = loop.get();
        return new Finding(
                finding.works(),
                finding.detail() + " (features 0x" + Integer.toHexString(features) + ")");
    }

    private static String refusal(int errno, Path disabled) {
        return Errno.name(errno)
                + switch (errno) {
                    case Errno.EPERM -> ": " + forbiddenBy(disabled);
                    case Errno.ENOSYS ->
                            ": the kernel is older than 5.1, built without io_uring, or blocked by"
                                    + " a container's seccomp profile";
                    case Errno.ENOMEM ->
                            ": before Linux 5.12 rings count as locked memory (raise ulimit -l)";
                    default -> {
                        String hint = Errno.hint("io_uring_setup", errno);
                        yield hint.isEmpty() ? "" : ": " + hint;
                    }
                };
    }

    /// Value 1 forbids it for all but a group and the administrator, 2 for everyone.
    private static String forbiddenBy(Path disabled) {
        String value = "";
        try {
            value = Files.readString(disabled).strip();
        } catch (IOException e) {
            // Absent before Linux 6.6.
        }
        return value.equals("1") || value.equals("2")
                ? "forbidden by sysctl kernel.io_uring_disabled=" + value + " (0 allows it)"
                : "probably forbidden by a container's seccomp profile (allow io_uring_setup,"
                        + " io_uring_enter and io_uring_register)";
    }
}
