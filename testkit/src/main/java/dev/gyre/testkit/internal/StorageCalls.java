package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FileCalls;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Implements [FileCalls] on a simulated kernel.
public final class StorageCalls implements FileCalls {
    private static final int S_IFREG = 0x8000;
    private static final int S_IFDIR = 0x4000;
    private static final int FILE_MODE = 0b110_100_100;
    private static final int NANOS_OFFSET = 8;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final SimulatedKernel kernel;

    public StorageCalls(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    @Override
    public int open(long pathAddress, int flags, int mode) {
        synchronized (kernel) {
            if (kernel.injector.interrupts()) {
                return kernel.transfers.traced("open", -1, -Errno.EINTR);
            }
            String path = pathAt(pathAddress);
            OpenFile[] opened = new OpenFile[1];
            int status = flags & ~(Linux.O_CREAT | Linux.O_EXCL | Linux.O_TRUNC | Linux.O_CLOEXEC);
            int result = kernel.files.open(path, flags, file -> opened[0] = file);
            if (result == 0) {
                opened[0].statusFlags = status;
                result = kernel.number(opened[0]);
            }
            return kernel.transfers.traced("open " + path + " ", -1, result);
        }
    }

    private static String pathAt(long address) {
        byte[] bytes = new byte[Linux.PATH_MAX];
        int length = 0;
        byte[] one = new byte[1];
        while (length < bytes.length) {
            Memory.getBytes(address + length, one, 0, 1);
            if (one[0] == 0) {
                break;
            }
            bytes[length++] = one[0];
        }
        return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
    }

    @Override
    public long pread(int fd, long address, long count, long offset) {
        synchronized (kernel) {
            if (!(kernel.descriptors.find(fd) instanceof MemoryFile file)) {
                return kernel.transfers.traced("pread", fd, (long) notFile(fd));
            }
            return kernel.transfers.read(
                    "pread",
                    fd,
                    file,
                    address,
                    count,
                    0,
                    (bytes, length) -> file.readAt(bytes, length, offset));
        }
    }

    @Override
    public long pwrite(int fd, long address, long count, long offset) {
        synchronized (kernel) {
            if (!(kernel.descriptors.find(fd) instanceof MemoryFile file)) {
                return kernel.transfers.traced("pwrite", fd, (long) notFile(fd));
            }
            return kernel.transfers.write(
                    "pwrite",
                    fd,
                    file,
                    address,
                    count,
                    0,
                    (bytes, length) -> file.writeAt(bytes, length, offset));
        }
    }

    private int notFile(int fd) {
        return kernel.descriptors.find(fd) == null ? -Errno.EBADF : -SimulatedKernel.ESPIPE;
    }

    @Override
    public int fsync(int fd) {
        return sync("fsync", fd);
    }

    @Override
    public int fdatasync(int fd) {
        return sync("fdatasync", fd);
    }

    private int sync(String call, int fd) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            int result =
                    file == null ? -Errno.EBADF : file instanceof MemoryFile ? 0 : -Errno.EINVAL;
            return kernel.transfers.traced(call, fd, result);
        }
    }

    @Override
    public int statx(int fd, long pathAddress, int flags, int mask, long statxAddress) {
        synchronized (kernel) {
            String path = pathAt(pathAddress);
            MemoryFiles.Content content;
            if (path.isEmpty()) {
                if ((flags & Linux.AT_EMPTY_PATH) == 0) {
                    return kernel.transfers.traced("statx", fd, -Errno.ENOENT);
                }
                if (!(kernel.descriptors.find(fd) instanceof MemoryFile file)) {
                    return kernel.transfers.traced("statx", fd, -Errno.EBADF);
                }
                content = file.content;
            } else {
                content = kernel.files.find(path);
                if (content == null && !kernel.files.isDirectory(path)) {
                    return kernel.transfers.traced("statx " + path + " ", fd, -Errno.ENOENT);
                }
            }
            byte[] zeros = new byte[Linux.SIZEOF_STATX];
            Arrays.fill(zeros, (byte) 0);
            Memory.putBytes(statxAddress, zeros, 0, zeros.length);
            boolean isFile = content != null;
            // The mode and the following fields have two bytes each.
            Memory.putInt(
                    statxAddress + Linux.OFFSETOF_STATX_MODE,
                    (isFile ? S_IFREG : S_IFDIR) | FILE_MODE);
            if (content != null) {
                Memory.putLong(statxAddress + Linux.OFFSETOF_STATX_INO, content.inode);
                Memory.putLong(statxAddress + Linux.OFFSETOF_STATX_SIZE, content.size());
                long modified = content.modifiedNanos;
                long at = statxAddress + Linux.OFFSETOF_STATX_MTIME;
                Memory.putLong(at, modified / NANOS_PER_SECOND);
                Memory.putInt(at + NANOS_OFFSET, (int) (modified % NANOS_PER_SECOND));
            }
            return kernel.transfers.traced("statx", fd, 0);
        }
    }

    @Override
    public int close(int fd) {
        synchronized (kernel) {
            return kernel.transfers.traced("close", fd, kernel.descriptors.close(fd));
        }
    }
}
