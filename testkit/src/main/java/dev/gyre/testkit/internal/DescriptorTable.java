package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The descriptor table. The lowest free number is allocated first, as on Linux.
final class DescriptorTable {
    /// Lower numbers are standard input, output and error.
    private static final int FIRST = 3;

    private final FaultInjector injector;

    // Guarded by the kernel's lock.
    private @Nullable OpenFile[] files = new @Nullable OpenFile[64];
    private int lowestFree = FIRST;
    private int lastClosed = -1;
    private int open;
    int limit = 1_024;

    DescriptorTable(FaultInjector injector) {
        this.injector = injector;
    }

    @Nullable OpenFile find(int fd) {
        return fd >= 0 && fd < files.length ? files[fd] : null;
    }

    /// Returns the number of open descriptors.
    int size() {
        return open;
    }

    /// Returns whether this many more fit.
    boolean hasRoomFor(int count) {
        return open + count + FIRST <= limit;
    }

    /// Allocates a number for a file.
    ///
    /// @return the number, or `-EMFILE`
    int add(OpenFile file) {
        if (!hasRoomFor(1)) {
            return -Errno.EMFILE;
        }
        int fd = lowestFree;
        if (lastClosed >= 0 && files[lastClosed] == null && injector.reuses()) {
            fd = lastClosed;
        }
        if (fd >= files.length) {
            files = Arrays.copyOf(files, files.length * 2);
        }
        files[fd] = file;
        file.retain();
        open++;
        while (lowestFree < files.length && files[lowestFree] != null) {
            lowestFree++;
        }
        return fd;
    }

    int close(int fd) {
        OpenFile file = find(fd);
        if (file == null) {
            return -Errno.EBADF;
        }
        files[fd] = null;
        open--;
        lowestFree = Math.min(lowestFree, fd);
        lastClosed = fd;
        file.release();
        return 0;
    }

    void closeAll() {
        for (int fd = 0; fd < files.length; fd++) {
            if (files[fd] != null) {
                close(fd);
            }
        }
    }

    /// Returns the open numbers and their files.
    String list() {
        StringBuilder text = new StringBuilder();
        for (int fd = 0; fd < files.length; fd++) {
            if (files[fd] != null) {
                text.append(text.isEmpty() ? "" : ", ").append(fd).append(' ').append(files[fd]);
            }
        }
        return text.toString();
    }
}
