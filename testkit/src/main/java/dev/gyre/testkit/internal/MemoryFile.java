package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

/// An open file. It is always ready, so it cannot be polled.
final class MemoryFile extends OpenFile {
    final MemoryFiles.Content content;
    private long position;

    MemoryFile(SimulatedKernel kernel, MemoryFiles.Content content, int flags) {
        super(kernel, flags);
        this.content = content;
    }

    @Override
    int ready() {
        return EPOLLIN | EPOLLOUT;
    }

    @Override
    boolean isPollable() {
        return false;
    }

    @Override
    long read(byte[] into, int length) {
        long result = readAt(into, length, position);
        position += Math.max(0, result);
        return result;
    }

    @Override
    long write(byte[] from, int length) {
        boolean appends = (statusFlags & Linux.O_APPEND) != 0;
        long at = appends ? content.size() : position;
        long result = writeAt(from, length, at);
        if (result > 0) {
            position = at + result;
        }
        return result;
    }

    long readAt(byte[] into, int length, long offset) {
        if ((statusFlags & Linux.O_ACCMODE) == Linux.O_WRONLY) {
            return -Errno.EBADF;
        }
        return offset < 0 ? -Errno.EINVAL : content.read(into, length, offset);
    }

    long writeAt(byte[] from, int length, long offset) {
        if ((statusFlags & Linux.O_ACCMODE) == Linux.O_RDONLY) {
            return -Errno.EBADF;
        }
        if (offset < 0) {
            return -Errno.EINVAL;
        }
        // Like Linux, ignores the offset in append mode.
        boolean appends = (statusFlags & Linux.O_APPEND) != 0;
        content.modifiedNanos = kernel.schedule.nowNanos();
        return content.write(from, length, appends ? content.size() : offset);
    }

    @Override
    void closed() {}

    @Override
    public String toString() {
        return "file";
    }
}
