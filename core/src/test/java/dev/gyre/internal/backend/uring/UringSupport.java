package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.SyscallFactories;

/// Tells whether the kernel of this machine allows io_uring.
final class UringSupport {
    private UringSupport() {}

    static boolean isAvailable() {
        try {
            IoUringBackend.open(SyscallFactories.LINUX, new LinuxUringCalls(), 16).close();
            return true;
        } catch (SystemCallException e) {
            return false;
        }
    }
}
