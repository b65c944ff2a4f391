package dev.gyre.cli;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;

/// Asks the kernel for an io_uring and gives it back. Whatever the answer, the finding is that it does
/// not work: there is no backend on it.
final class UringCheck {
    static final Path DISABLED = Path.of("/proc/sys/kernel/io_uring_disabled");

    private UringCheck() {}

    /// @param disabled the file with the system's switch, which older kernels do not have
    static Finding run(Kernel kernel, Path disabled) {
        MemorySegment params = Memory.allocate(Linux.SIZEOF_IO_URING_PARAMS);
        int fd;
        int features;
        try {
            fd = kernel.ioUringSetup(1, params.address());
            features = Memory.getInt(params.address() + Linux.OFFSETOF_IO_URING_PARAMS_FEATURES);
        } finally {
            Reference.reachabilityFence(params);
        }
        if (fd < 0) {
            return Finding.fails(
                    "the kernel refuses it, "
                            + refusal(-fd, disabled)
                            + "; nor has this version of Gyre an io_uring backend yet");
        }
        kernel.close(fd);
        return Finding.fails(
                "the kernel allows it (features 0x"
                        + Integer.toHexString(features)
                        + "), but this version of Gyre has no io_uring backend yet");
    }

    private static String refusal(int errno, Path disabled) {
        return Errno.name(errno)
                + switch (errno) {
                    case Errno.EPERM -> ": " + forbiddenBy(disabled);
                    case Errno.ENOSYS ->
                            ": it is older than Linux 5.1, built without io_uring, or hidden by a"
                                    + " container's seccomp profile";
                    case Errno.ENOMEM ->
                            ": before Linux 5.12 rings count as locked memory (raise ulimit -l)";
                    default -> {
                        String hint = Errno.hint("io_uring_setup", errno);
                        yield hint.isEmpty() ? "" : ": " + hint;
                    }
                };
    }

    /// 1 forbids it to all but a group and the administrator, 2 to everyone.
    private static String forbiddenBy(Path disabled) {
        String value = "";
        try {
            value = Files.readString(disabled).strip();
        } catch (IOException e) {
            // Before Linux 6.6 there is no such switch.
        }
        return value.equals("1") || value.equals("2")
                ? "forbidden by sysctl kernel.io_uring_disabled=" + value + " (0 allows it)"
                : "probably forbidden by a container's seccomp profile (allow io_uring_setup,"
                        + " io_uring_enter and io_uring_register)";
    }
}
