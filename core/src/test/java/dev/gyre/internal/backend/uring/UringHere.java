package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.LinuxUringCalls;
import dev.gyre.internal.sys.Syscalls;

/// Whether this machine lets tests have an io_uring.
final class UringHere {
    private UringHere() {}

    static boolean isAllowed() {
        try {
            IoUringBackend.open(Syscalls.LINUX, new LinuxUringCalls(), 16).close();
            return true;
        } catch (SystemCallException e) {
            return false;
        }
    }
}
