package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.DescriptorLimit;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SyscallFactories;

import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;

/// Opens files, and translates paths and open options for the kernel. Any thread.
public final class FileOpens {
    /// The permissions of new files: readable by all, writable by the owner.
    static final int NEW_FILE_MODE = 0b110_100_100;

    private FileOpens() {}

    /// Opens a file on the calling thread. Waits for the disk, but not for the other end of a pipe.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static OpenDescriptor open(Path path, OpenOption... options) {
        // O_NONBLOCK: a pipe without a writer would block for ever. O_NOCTTY: a terminal would
        // become the controlling terminal of the process.
        int flags = flags(options) | Linux.O_NONBLOCK | Linux.O_NOCTTY;
        NativeBytes name = cString(path);
        int fd;
        try {
            fd = new LinuxFileCalls().open(name.address(), flags, NEW_FILE_MODE);
        } finally {
            Reference.reachabilityFence(name);
        }
        DescriptorLimit limit = SyscallFactories.LINUX_BY_THREAD.limit();
        if (fd == -Errno.EMFILE || fd == -Errno.ENFILE) {
            limit.refused("Cannot open " + path, -fd, System.nanoTime());
        }
        if (fd < 0) {
            throw new SystemCallException("open", -fd, "open " + path, Errno.hint("open", -fd));
        }
        limit.acquired(System.nanoTime());
        return OpenDescriptor.fresh(LinuxPollCalls::ofThread, fd, true);
    }

    /// Translates open options to the flags of `open(2)`.
    ///
    /// @throws UnsupportedOperationException for non-standard options and DELETE_ON_CLOSE
    static int flags(OpenOption... options) {
        EnumSet<StandardOpenOption> set = EnumSet.noneOf(StandardOpenOption.class);
        for (OpenOption option : options) {
            if (!(option instanceof StandardOpenOption standard)) {
                throw new UnsupportedOperationException("not a standard option: " + option);
            }
            set.add(standard);
        }
        boolean writes =
                set.contains(StandardOpenOption.WRITE) || set.contains(StandardOpenOption.APPEND);
        boolean reads = set.contains(StandardOpenOption.READ);
        int flags = Linux.O_CLOEXEC;
        flags |= !writes ? Linux.O_RDONLY : reads ? Linux.O_RDWR : Linux.O_WRONLY;
        for (StandardOpenOption option : set) {
            flags |=
                    switch (option) {
                        case READ, WRITE, SPARSE -> 0;
                        case APPEND -> Linux.O_APPEND;
                        case TRUNCATE_EXISTING -> writes ? Linux.O_TRUNC : 0;
                        case CREATE -> writes ? Linux.O_CREAT : 0;
                        case CREATE_NEW -> writes ? Linux.O_CREAT | Linux.O_EXCL : 0;
                        case SYNC -> Linux.O_SYNC;
                        case DSYNC -> Linux.O_DSYNC;
                        case DELETE_ON_CLOSE ->
                                throw new UnsupportedOperationException(
                                        "DELETE_ON_CLOSE is not supported: delete the file");
                    };
        }
        return flags;
    }

    /// Copies a path to native memory as a NUL-terminated UTF-8 string.
    static NativeBytes cString(Path path) {
        byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        NativeBytes name = NativeBytes.allocate(bytes.length + 1L);
        name.put(0, bytes, 0, bytes.length);
        return name;
    }
}
