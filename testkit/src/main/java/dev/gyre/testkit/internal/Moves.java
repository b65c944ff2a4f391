package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

/// Bytes on their way between memory and a file, and what goes wrong with them there.
///
/// What a fault holds back is announced again: a read that brings less than there is, or says that there is nothing,
/// must be followed by another edge, or a program that waits for one would wait for ever. So a fault looks as if the
/// bytes had come a little later, which is what happens on a real network.
final class Moves {
    /// More than this no call moves at a time.
    private static final int MOST_BYTES = 1 << 20;

    /// The calls of files that read or write, with what they need beside the bytes.
    @FunctionalInterface
    interface Move {
        long move(byte[] bytes, int length);
    }

    private final SimulatedKernel kernel;

    Moves(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    /// One run of bytes in memory.
    long read(String call, int fd, OpenFile file, long address, long count, int flags, Move move) {
        int length = (int) Math.min(count, MOST_BYTES);
        byte[] bytes = kernel.scratch(length);
        long result = read(call, fd, file, bytes, length, flags, move);
        if (result > 0) {
            Memory.putBytes(address, bytes, 0, (int) Math.min(length, result));
        }
        return result;
    }

    long write(String call, int fd, OpenFile file, long address, long count, int flags, Move move) {
        int length = (int) Math.min(count, MOST_BYTES);
        byte[] bytes = kernel.scratch(length);
        Memory.getBytes(address, bytes, 0, length);
        return write(call, fd, file, bytes, length, flags, move);
    }

    /// Several runs of bytes.
    long readVectors(
            String call, int fd, OpenFile file, long vectors, int count, int flags, Move move) {
        int length = lengthOf(vectors, count);
        byte[] bytes = kernel.scratch(length);
        long result = read(call, fd, file, bytes, length, flags, move);
        int left = (int) Math.min(length, result);
        int at = 0;
        for (int i = 0; i < count && left > 0; i++) {
            long vector = vectors + (long) i * Linux.SIZEOF_IOVEC;
            int some = (int) Math.min(left, Memory.getLong(vector + Linux.OFFSETOF_IOVEC_LEN));
            Memory.putBytes(Memory.getLong(vector), bytes, at, some);
            at += some;
            left -= some;
        }
        return result;
    }

    long writeVectors(
            String call, int fd, OpenFile file, long vectors, int count, int flags, Move move) {
        int length = lengthOf(vectors, count);
        byte[] bytes = kernel.scratch(length);
        int at = 0;
        for (int i = 0; i < count && at < length; i++) {
            long vector = vectors + (long) i * Linux.SIZEOF_IOVEC;
            int some =
                    (int) Math.min(length - at, Memory.getLong(vector + Linux.OFFSETOF_IOVEC_LEN));
            Memory.getBytes(Memory.getLong(vector), bytes, at, some);
            at += some;
        }
        return write(call, fd, file, bytes, length, flags, move);
    }

    private static int lengthOf(long vectors, int count) {
        long length = 0;
        for (int i = 0; i < count && length < MOST_BYTES; i++) {
            length +=
                    Memory.getLong(
                            vectors + (long) i * Linux.SIZEOF_IOVEC + Linux.OFFSETOF_IOVEC_LEN);
        }
        return (int) Math.min(length, MOST_BYTES);
    }

    // ------------------------------------------------------------------ with what goes wrong

    private long read(
            String call, int fd, OpenFile file, byte[] bytes, int length, int flags, Move move) {
        if (kernel.mischief.interrupts()) {
            return told(call, fd, -Errno.EINTR);
        }
        boolean ready = (file.ready() & EPOLLIN) != 0;
        if (ready && !file.isBlocking() && file.isPollable() && kernel.mischief.blocks()) {
            announceAgain(file, EPOLLIN);
            return told(call, fd, -Errno.EAGAIN);
        }
        int most = length;
        int available = file.available();
        if (available > 0) {
            int whole = Math.min(length, available);
            int some = kernel.mischief.shortenedRead(whole);
            if (some < whole) {
                most = some;
                announceAgain(file, EPOLLIN);
            }
        }
        long result = kernel.unlessBlocking(call, fd, file, move.move(bytes, most), flags);
        return told(call, fd, result, bytes);
    }

    private long write(
            String call, int fd, OpenFile file, byte[] bytes, int length, int flags, Move move) {
        if (kernel.mischief.interrupts()) {
            return told(call, fd, -Errno.EINTR);
        }
        if (file instanceof SimulatedSocket && kernel.mischief.lacksBuffers()) {
            return told(call, fd, -Errno.ENOBUFS);
        }
        boolean ready = (file.ready() & EPOLLOUT) != 0;
        if (ready && !file.isBlocking() && file.isPollable() && kernel.mischief.blocks()) {
            announceAgain(file, EPOLLOUT);
            return told(call, fd, -Errno.EAGAIN);
        }
        int most = length;
        if (file.available() >= 0) { // Only streams may be cut.
            most = kernel.mischief.shortenedWrite(length);
            if (most < length) {
                announceAgain(file, EPOLLOUT);
            }
        }
        long result = kernel.unlessBlocking(call, fd, file, move.move(bytes, most), flags);
        return told(call, fd, result, bytes);
    }

    private void announceAgain(OpenFile file, int key) {
        kernel.agenda.after(kernel.mischief.delayNanos(), () -> file.wake(key));
    }

    // ------------------------------------------------------------------ the trace

    private long told(String call, int fd, long result, byte[] bytes) {
        if (result <= 0) {
            return told(call, fd, result);
        }
        kernel.progressed();
        int known = (int) Math.min(result, bytes.length);
        kernel.note(call + "(" + fd + ") = " + result + Recorder.nameOf(bytes, 0, known));
        return result;
    }

    /// Notes a call's result, and passes it on.
    long told(String call, int fd, long result) {
        if (result >= 0) {
            kernel.progressed();
        }
        String text = result < 0 ? Errno.name((int) -result) : Long.toString(result);
        kernel.note(call + "(" + fd + ") = " + text);
        return result;
    }

    int told(String call, int fd, int result) {
        return (int) told(call, fd, (long) result);
    }
}
