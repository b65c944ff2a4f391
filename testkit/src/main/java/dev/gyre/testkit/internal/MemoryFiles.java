package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.TreeMap;

/// The files of the simulated machine, by path. Every prefix of a path is a directory. The root
/// always exists.
final class MemoryFiles {
    /// The bytes of a file. They outlive its name while the file is open.
    static final class Content {
        private static final int MAX_BYTES = 1 << 28;

        final long inode;
        private byte[] bytes = new byte[0];
        private int size;
        long modifiedNanos;

        Content(long inode) {
            this.inode = inode;
        }

        int size() {
            return size;
        }

        int read(byte[] into, int length, long offset) {
            if (offset >= size) {
                return 0;
            }
            int read = (int) Math.min(length, size - offset);
            System.arraycopy(bytes, (int) offset, into, 0, read);
            return read;
        }

        int write(byte[] from, int length, long offset) {
            long end = offset + length;
            if (end > MAX_BYTES) {
                return -Errno.ENOSPC;
            }
            if (end > bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.max(end, 2L * bytes.length));
            }
            System.arraycopy(from, 0, bytes, (int) offset, length);
            size = (int) Math.max(size, end);
            return length;
        }

        void truncate() {
            bytes = new byte[0];
            size = 0;
        }

        byte[] copy() {
            return Arrays.copyOf(bytes, size);
        }
    }

    private final SimulatedKernel kernel;

    // Guarded by the kernel's lock.
    private final TreeMap<String, Content> byPath = new TreeMap<>();

    MemoryFiles(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    boolean exists(String path) {
        return byPath.containsKey(path);
    }

    @Nullable Content find(String path) {
        return byPath.get(path);
    }

    boolean isDirectory(String path) {
        if (path.equals("/") || path.equals(".")) {
            return true;
        }
        String prefix = path.endsWith("/") ? path : path + "/";
        String next = byPath.ceilingKey(prefix);
        return next != null && next.startsWith(prefix);
    }

    Content create(String path) {
        return byPath.computeIfAbsent(path, absent -> new Content(kernel.nextSerial()));
    }

    void remove(String path) {
        byPath.remove(path);
    }

    /// Implements `open` without the allocation of a number.
    ///
    /// @param opened receives the file
    int open(String path, int flags, java.util.function.Consumer<MemoryFile> opened) {
        if (path.isEmpty()) {
            return -Errno.ENOENT;
        }
        if (path.length() >= Linux.PATH_MAX) {
            return -Errno.ENAMETOOLONG;
        }
        boolean writes = (flags & Linux.O_ACCMODE) != Linux.O_RDONLY;
        Content content = byPath.get(path);
        if (content == null) {
            if (isDirectory(path)) {
                return writes || (flags & Linux.O_CREAT) != 0 ? -Errno.EISDIR : -Errno.EACCES;
            }
            if (goesThroughAFile(path)) {
                return -Errno.ENOTDIR;
            }
            if ((flags & Linux.O_CREAT) == 0) {
                return -Errno.ENOENT;
            }
            content = create(path);
            content.modifiedNanos = kernel.schedule.nowNanos();
        } else if ((flags & Linux.O_CREAT) != 0 && (flags & Linux.O_EXCL) != 0) {
            return -Errno.EEXIST;
        } else if ((flags & Linux.O_TRUNC) != 0 && writes) {
            content.truncate();
        }
        opened.accept(new MemoryFile(kernel, content, flags));
        return 0;
    }

    private boolean goesThroughAFile(String path) {
        for (int slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
            if (byPath.containsKey(path.substring(0, slash))) {
                return true;
            }
        }
        return false;
    }
}
