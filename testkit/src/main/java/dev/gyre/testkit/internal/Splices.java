package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;

import java.util.Arrays;

/// Bytes that go from one descriptor to another without touching memory of the caller's.
final class Splices {
    private static final int MOST_BYTES = 1 << 16;

    private final SimulatedKernel kernel;

    Splices(SimulatedKernel kernel) {
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
        if (kernel.mischief.interrupts()) {
            return -Errno.EINTR;
        }
        byte[] bytes = new byte[(int) Math.min(count, MOST_BYTES)];
        long read = content.readAt(bytes, bytes.length, offset);
        if (read <= 0) {
            return read;
        }
        int length = kernel.mischief.shortenedWrite((int) read);
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
        if (kernel.mischief.interrupts()) {
            return -Errno.EINTR;
        }
        byte[] bytes = new byte[(int) Math.min(count, MOST_BYTES)];
        int most = bytes.length;
        if (from.available() >= 0) {
            most = Math.min(most, from.available());
        }
        if (most == 0) {
            return from.read(bytes, bytes.length); // Nothing, the end or an error.
        }
        if (to.room() <= 0) {
            // Nothing is read for one who cannot take it: it says why.
            long refused = to.write(new byte[MOST_BYTES], MOST_BYTES);
            assert refused < 0 : "there was room after all";
            return refused;
        }
        most = Math.min(most, to.room());
        long read = from.read(bytes, most);
        if (read <= 0) {
            return read;
        }
        long written = to.write(Arrays.copyOf(bytes, (int) read), (int) read);
        assert written == read : "there was room for " + read + ", but it took " + written;
        return written;
    }
}
