package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.LinuxPollSyscalls;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.Syscalls;

import java.lang.ref.Reference;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/// Opens files on the thread that asks for it, which may wait.
public final class OpenFiles {
    private OpenFiles() {}

    /// Opens a file, and never waits for the other end of a pipe.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static OpenDescriptor open(Path path, OpenOption... options) {
        // A pipe without a writer would keep the thread for ever; a terminal would become the
        // process's own.
        int flags = OpenModes.flags(options) | Linux.O_NONBLOCK | Linux.O_NOCTTY;
        NativeBytes name = LoopFileOpen.cString(path);
        int fd;
        try {
            fd = new LinuxFileCalls().open(name.address(), flags, OpenModes.NEW_FILE);
        } finally {
            Reference.reachabilityFence(name);
        }
        DescriptorLimit limit = Syscalls.LINUX_BY_THREAD.limit();
        if (fd == -Errno.EMFILE || fd == -Errno.ENFILE) {
            limit.refused("Cannot open " + path, -fd, System.nanoTime());
        }
        if (fd < 0) {
            throw new SystemCallException("open", -fd, "open " + path, Errno.hint("open", -fd));
        }
        limit.acquired(System.nanoTime());
        return OpenDescriptor.fresh(LinuxPollSyscalls::ofThread, fd, true);
    }
}
