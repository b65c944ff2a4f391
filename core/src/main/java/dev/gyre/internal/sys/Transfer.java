package dev.gyre.internal.sys;

import dev.gyre.SystemCallException;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Moves bytes between a descriptor and a buffer, with one call that reaches the kernel. Direct buffers are used
/// in place; what lies in the heap may be moved by the garbage collector during the call, so it takes a
/// detour over memory of the thread's own.
public final class Transfer {
    private static final int END = -1;

    /// Of a heap buffer no more than this is moved at a time.
    private static final int DETOUR_BYTES = 1 << 16;

    private static final ThreadLocal<MemorySegment> DETOUR =
            ThreadLocal.withInitial(() -> Memory.allocate(DETOUR_BYTES));

    private Transfer() {}

    /// Reads once.
    ///
    /// @return the number of bytes; 0 if the call would block or there is no room; -1 at the end
    public static int read(Kernel kernel, int fd, ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer");
        }
        if (!buffer.hasRemaining()) {
            return 0;
        }
        long result;
        if (buffer.isDirect()) {
            MemorySegment target = MemorySegment.ofBuffer(buffer); // From its position on.
            result = reading(kernel, fd, target.address(), target.byteSize());
        } else {
            MemorySegment detour = DETOUR.get();
            int most = Math.min(buffer.remaining(), DETOUR_BYTES);
            result = reading(kernel, fd, detour.address(), most);
            if (result > 0) {
                MemorySegment.ofBuffer(buffer).copyFrom(detour.asSlice(0, result));
            }
        }
        if (result > 0) {
            buffer.position(buffer.position() + (int) result);
            return (int) result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        if (result < 0) {
            throw new SystemCallException("read", (int) -result, fd);
        }
        return END;
    }

    /// Writes once.
    ///
    /// @return the number of bytes; 0 if the call would block or there is nothing to write
    public static int write(Kernel kernel, int fd, ByteBuffer buffer) {
        if (!buffer.hasRemaining()) {
            return 0;
        }
        long result;
        if (buffer.isDirect()) {
            MemorySegment source = MemorySegment.ofBuffer(buffer);
            result = writing(kernel, fd, source.address(), source.byteSize());
        } else {
            MemorySegment detour = DETOUR.get();
            int most = Math.min(buffer.remaining(), DETOUR_BYTES);
            detour.copyFrom(MemorySegment.ofBuffer(buffer).asSlice(0, most));
            result = writing(kernel, fd, detour.address(), most);
        }
        if (result >= 0) {
            buffer.position(buffer.position() + (int) result);
            return (int) result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        throw new SystemCallException("write", (int) -result, fd);
    }

    private static long reading(Kernel kernel, int fd, long address, long count) {
        long result;
        do {
            result = kernel.read(fd, address, count);
        } while (result == -Errno.EINTR);
        return result;
    }

    private static long writing(Kernel kernel, int fd, long address, long count) {
        long result;
        do {
            result = kernel.write(fd, address, count);
        } while (result == -Errno.EINTR);
        return result;
    }
}
