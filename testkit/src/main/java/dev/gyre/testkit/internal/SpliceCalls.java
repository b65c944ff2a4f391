package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;

import java.util.Arrays;

/// Transfers between descriptors without memory of the caller.
final class SpliceCalls {
    private static final int MAX_BYTES = 1 << 16;

    private final SimulatedKernel kernel;

    SpliceCalls(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    long sendFile(int socket, int file, long offset, long count) {
        OpenFile to = kernel.descriptors.find(socket);
        OpenFile from = kernel.descriptors.find(file);
        if (to == null || from == null) {
            return -Errno.EBADF;
        }
        if (!(from instanceof MemoryFile content)) {
            return -Errno.EINVAL;
        }
        if (kernel.injector.interrupts()) {
            return -Errno.EINTR;
        }
        byte[] bytes = new byte[(int) Math.min(count, MAX_BYTES)];
        long read = content.readAt(bytes, bytes.length, offset);
        if (read <= 0) {
            return read;
        }
        int length = kernel.injector.shortenedWrite((int) read);
        return kernel.unlessBlocking("sendfile", socket, to, to.write(bytes, length), 0);
    }

    long splice(int source, int target, long count) {
        OpenFile from = kernel.descriptors.find(source);
        OpenFile to = kernel.descriptors.find(target);
        if (from == null || to == null) {
            return -Errno.EBADF;
        }
        if (!(from instanceof PipeEnd) && !(to instanceof PipeEnd)) {
            return -Errno.EINVAL;
        }
        if (kernel.injector.interrupts()) {
            return -Errno.EINTR;
        }
        byte[] bytes = new byte[(int) Math.min(count, MAX_BYTES)];
        int max = bytes.length;
        if (from.available() >= 0) {
            max = Math.min(max, from.available());
        }
        if (max == 0) {
            return from.read(bytes, bytes.length); // Empty, at its end, or failed.
        }
        if (to.room() <= 0) {
            // Nothing is read if the target does not accept it: its error is returned.
            long refused = to.write(new byte[MAX_BYTES], MAX_BYTES);
            assert refused < 0 : "the target has space";
            return refused;
        }
        max = Math.min(max, to.room());
        long read = from.read(bytes, max);
        if (read <= 0) {
            return read;
        }
        long written = to.write(Arrays.copyOf(bytes, (int) read), (int) read);
        assert written == read : "the target had space for " + read + ", but accepted " + written;
        return written;
    }
}
