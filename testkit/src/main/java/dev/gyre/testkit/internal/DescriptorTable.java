package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The numbers: the lowest free one is given away first, so that one which was closed comes again soon.
final class DescriptorTable {
    /// Those below stand for standard input, output and errors.
    private static final int FIRST = 3;

    private final Mischief mischief;

    // Guarded by the kernel's lock.
    private @Nullable OpenFile[] files = new @Nullable OpenFile[64];
    private int lowestFree = FIRST;
    private int lastClosed = -1;
    private int open;
    int limit = 1_024;

    DescriptorTable(Mischief mischief) {
        this.mischief = mischief;
    }

    @Nullable OpenFile find(int fd) {
        return fd >= 0 && fd < files.length ? files[fd] : null;
    }

    /// How many are open.
    int size() {
        return open;
    }

    /// Whether so many more fit in.
    boolean hasRoomFor(int count) {
        return open + count + FIRST <= limit;
    }

    /// Gives the file a number.
    ///
    /// @return the number, or `-EMFILE`
    int add(OpenFile file) {
        if (!hasRoomFor(1)) {
            return -Errno.EMFILE;
        }
        int fd = lowestFree;
        if (lastClosed >= 0 && files[lastClosed] == null && mischief.reuses()) {
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

    /// The numbers that are open, and what they stand for.
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
