package dev.gyre.internal.sys;

import dev.gyre.SystemCallException;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Receives from a socket without waiting, whether or not the socket itself would.
public final class Reception {
    private static final int END = -1;

    private Reception() {}

    /// Receives once.
    ///
    /// @param buffer a direct one with room left
    /// @return the number of bytes; 0 if the call would block; -1 at the end
    public static int receive(Inputs inputs, int fd, ByteBuffer buffer) {
        MemorySegment target = MemorySegment.ofBuffer(buffer); // From its position on.
        long result;
        do {
            result = inputs.recv(fd, target.address(), target.byteSize(), Linux.MSG_DONTWAIT);
        } while (result == -Errno.EINTR);
        if (result > 0) {
            buffer.position(buffer.position() + (int) result);
            return (int) result;
        }
        if (result < 0 && result != -Errno.EAGAIN) {
            throw new SystemCallException("recv", (int) -result, fd);
        }
        return result == 0 ? END : 0;
    }
}
