package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import dev.gyre.internal.sys.Errno;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// An eventfd.
final class EventCounter extends OpenFile {
    private static final long MAX = -2; // Unsigned: 2^64 - 2.

    private long count;

    EventCounter(SimulatedKernel kernel, int initialValue, int flags) {
        super(kernel, flags);
        count = Integer.toUnsignedLong(initialValue);
    }

    @Override
    int ready() {
        return (count != 0 ? EPOLLIN : 0) | (count != MAX ? EPOLLOUT : 0);
    }

    @Override
    long read(byte[] into, int length) {
        if (length < Long.BYTES) {
            return -Errno.EINVAL;
        }
        if (count == 0) {
            return -Errno.EAGAIN;
        }
        ByteBuffer.wrap(into).order(ByteOrder.nativeOrder()).putLong(0, count);
        count = 0;
        wake(EPOLLOUT);
        return Long.BYTES;
    }

    @Override
    long write(byte[] from, int length) {
        if (length < Long.BYTES) {
            return -Errno.EINVAL;
        }
        long more = ByteBuffer.wrap(from).order(ByteOrder.nativeOrder()).getLong(0);
        if (more == -1) {
            return -Errno.EINVAL;
        }
        if (Long.compareUnsigned(MAX - count, more) < 0) {
            return -Errno.EAGAIN;
        }
        count += more;
        wake(EPOLLIN);
        return Long.BYTES;
    }

    @Override
    void closed() {}

    @Override
    public String toString() {
        return "eventfd";
    }
}
