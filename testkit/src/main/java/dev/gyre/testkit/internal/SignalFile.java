package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLIN;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// A signalfd. Unlike on Linux, each has its own queue of signals, so that several in one world do
/// not steal from each other.
final class SignalFile extends OpenFile {
    private final long wanted;
    private long pending;

    SignalFile(SimulatedKernel kernel, long wanted, int flags) {
        super(kernel, flags);
        this.wanted = wanted;
    }

    void raise(int number) {
        long bit = 1L << (number - 1);
        if ((wanted & bit) != 0) {
            pending |= bit;
            wake(EPOLLIN);
        }
    }

    @Override
    int ready() {
        return pending != 0 ? EPOLLIN : 0;
    }

    @Override
    long read(byte[] into, int length) {
        if (length < Linux.SIZEOF_SIGNALFD_SIGINFO) {
            return -Errno.EINVAL;
        }
        if (pending == 0) {
            return -Errno.EAGAIN;
        }
        int read = 0;
        while (pending != 0 && read + Linux.SIZEOF_SIGNALFD_SIGINFO <= length) {
            int number = Long.numberOfTrailingZeros(pending) + 1;
            pending &= pending - 1;
            Arrays.fill(into, read, read + Linux.SIZEOF_SIGNALFD_SIGINFO, (byte) 0);
            ByteBuffer.wrap(into)
                    .order(ByteOrder.nativeOrder())
                    .putInt(read + Linux.OFFSETOF_SIGNALFD_SIGINFO_SIGNO, number);
            read += Linux.SIZEOF_SIGNALFD_SIGINFO;
        }
        return read;
    }

    @Override
    void closed() {
        kernel.signalFiles.remove(this);
    }

    @Override
    public String toString() {
        return "signalfd";
    }
}
