package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLIN;
import static dev.gyre.internal.sys.Linux.EPOLLOUT;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

/// Transfers between memory and files, with injected faults.
///
/// A fault that holds bytes back reports readiness again later. Without another edge, a program
/// would wait forever. So the fault looks like late bytes on a real network.
final class TransferFaults {
    /// The maximum of bytes moved by one call.
    private static final int MAX_BYTES = 1 << 20;

    /// A read or write of a file, with its parameters.
    @FunctionalInterface
    interface Move {
        long move(byte[] bytes, int length);
    }

    private final SimulatedKernel kernel;

    TransferFaults(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    /// Transfers one array.
    long read(String call, int fd, OpenFile file, long address, long count, int flags, Move move) {
        int length = (int) Math.min(count, MAX_BYTES);
        byte[] bytes = kernel.scratch(length);
        long result = read(call, fd, file, bytes, length, flags, move);
        if (result > 0) {
            Memory.putBytes(address, bytes, 0, (int) Math.min(length, result));
        }
        return result;
    }

    long write(String call, int fd, OpenFile file, long address, long count, int flags, Move move) {
        int length = (int) Math.min(count, MAX_BYTES);
        byte[] bytes = kernel.scratch(length);
        Memory.getBytes(address, bytes, 0, length);
        return write(call, fd, file, bytes, length, flags, move);
    }

    /// Transfers several arrays.
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
        for (int i = 0; i < count && length < MAX_BYTES; i++) {
            length +=
                    Memory.getLong(
                            vectors + (long) i * Linux.SIZEOF_IOVEC + Linux.OFFSETOF_IOVEC_LEN);
        }
        return (int) Math.min(length, MAX_BYTES);
    }

    // ------------------------------------------------------------------ with what goes wrong

    private long read(
            String call, int fd, OpenFile file, byte[] bytes, int length, int flags, Move move) {
        if (kernel.injector.interrupts()) {
            return traced(call, fd, -Errno.EINTR);
        }
        boolean ready = (file.ready() & EPOLLIN) != 0;
        if (ready && !file.isBlocking() && file.isPollable() && kernel.injector.blocks()) {
            announceAgain(file, EPOLLIN);
            return traced(call, fd, -Errno.EAGAIN);
        }
        int max = length;
        int available = file.available();
        if (available > 0) {
            int whole = Math.min(length, available);
            int some = kernel.injector.shortenedRead(whole);
            if (some < whole) {
                max = some;
                announceAgain(file, EPOLLIN);
            }
        }
        long result = kernel.unlessBlocking(call, fd, file, move.move(bytes, max), flags);
        return traced(call, fd, result, bytes);
    }

    private long write(
            String call, int fd, OpenFile file, byte[] bytes, int length, int flags, Move move) {
        if (kernel.injector.interrupts()) {
            return traced(call, fd, -Errno.EINTR);
        }
        if (file instanceof SimulatedSocket && kernel.injector.lacksBuffers()) {
            return traced(call, fd, -Errno.ENOBUFS);
        }
        boolean ready = (file.ready() & EPOLLOUT) != 0;
        if (ready && !file.isBlocking() && file.isPollable() && kernel.injector.blocks()) {
            announceAgain(file, EPOLLOUT);
            return traced(call, fd, -Errno.EAGAIN);
        }
        int max = length;
        if (file.available() >= 0) { // Only streams have short writes.
            max = kernel.injector.shortenedWrite(length);
            if (max < length) {
                announceAgain(file, EPOLLOUT);
            }
        }
        long result = kernel.unlessBlocking(call, fd, file, move.move(bytes, max), flags);
        return traced(call, fd, result, bytes);
    }

    private void announceAgain(OpenFile file, int key) {
        kernel.schedule.after(kernel.injector.delayNanos(), () -> file.wake(key));
    }

    // ------------------------------------------------------------------ the trace

    private long traced(String call, int fd, long result, byte[] bytes) {
        if (result <= 0) {
            return traced(call, fd, result);
        }
        kernel.progressed();
        int known = (int) Math.min(result, bytes.length);
        kernel.note(call + "(" + fd + ") = " + result + TraceRecorder.nameOf(bytes, 0, known));
        return result;
    }

    /// Records the result of a call and returns it.
    long traced(String call, int fd, long result) {
        if (result >= 0) {
            kernel.progressed();
        }
        String text = result < 0 ? Errno.name((int) -result) : Long.toString(result);
        kernel.note(call + "(" + fd + ") = " + text);
        return result;
    }

    int traced(String call, int fd, int result) {
        return (int) traced(call, fd, (long) result);
    }
}
