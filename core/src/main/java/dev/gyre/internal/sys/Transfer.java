package dev.gyre.internal.sys;

import dev.gyre.SystemCallException;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/// Moves bytes between a descriptor and a buffer, with one call that reaches the kernel. Direct buffers
/// are used in place; what lies in the heap may be moved by the garbage collector during the call, so it
/// takes a detour over memory of the thread's own.
public final class Transfer {
    private static final int END = -1;

    /// Of a heap buffer no more than this is moved at a time; on a virtual thread, of which there may be
    /// very many, no more than the second.
    private static final int MAX_BOUNCE_BYTES = 1 << 16;

    private static final int MAX_VIRTUAL_BOUNCE_BYTES = 1 << 12;

    private static final ThreadLocal<Transfer> OF_THREAD = ThreadLocal.withInitial(Transfer::new);

    // One thread only.
    private final Located reading = new Located();
    private final Located writing = new Located();
    private @Nullable MemorySegment bounce;

    private Transfer() {}

    /// Where a direct buffer is, remembered for the one used last: asking costs an object each time, and
    /// most threads use the same buffer over and over.
    private static final class Located {
        private WeakReference<@Nullable ByteBuffer> last = new WeakReference<>(null);

        /// Of the memory's life: does not keep the buffer.
        private MemorySegment.Scope scope = MemorySegment.NULL.scope();

        private long startAddress;

        long addressOf(ByteBuffer buffer) {
            if (!last.refersTo(buffer)) {
                MemorySegment memory = MemorySegment.ofBuffer(buffer);
                if (!memory.isAccessibleBy(Thread.currentThread())) {
                    throw new WrongThreadException(
                            "the buffer belongs to an arena that is confined to another thread");
                }
                scope = memory.scope();
                startAddress = memory.address() - buffer.position();
                last = new WeakReference<>(buffer);
            }
            if (!scope.isAlive()) {
                throw new IllegalStateException("the arena of the buffer is closed");
            }
            return startAddress + buffer.position();
        }
    }

    /// Reads once.
    ///
    /// @return the number of bytes; 0 if the call would block or there is no room; -1 at the end
    public static int read(PollSyscalls kernel, int fd, ByteBuffer buffer) {
        if (buffer.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer");
        }
        if (!buffer.hasRemaining()) {
            return 0;
        }
        Transfer transfer = OF_THREAD.get();
        long result;
        do {
            result = transfer.readInto(kernel, fd, buffer);
        } while (result == -Errno.EINTR);
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

    private long readInto(PollSyscalls kernel, int fd, ByteBuffer buffer) {
        if (buffer.isDirect()) {
            return kernel.read(fd, reading.addressOf(buffer), buffer.remaining());
        }
        MemorySegment via = bounce(buffer.remaining());
        long most = Math.min(buffer.remaining(), via.byteSize());
        long result = kernel.read(fd, via.address(), most);
        if (result > 0) {
            MemorySegment.ofBuffer(buffer).copyFrom(via.asSlice(0, result));
        }
        return result;
    }

    /// Writes once.
    ///
    /// @return the number of bytes; 0 if the call would block or there is nothing to write
    public static int write(PollSyscalls kernel, int fd, ByteBuffer buffer) {
        if (!buffer.hasRemaining()) {
            return 0;
        }
        Transfer transfer = OF_THREAD.get();
        long result;
        do {
            result = transfer.writeFrom(kernel, fd, buffer);
        } while (result == -Errno.EINTR);
        if (result >= 0) {
            buffer.position(buffer.position() + (int) result);
            return (int) result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        throw new SystemCallException("write", (int) -result, fd);
    }

    private long writeFrom(PollSyscalls kernel, int fd, ByteBuffer buffer) {
        if (buffer.isDirect()) {
            return kernel.write(fd, writing.addressOf(buffer), buffer.remaining());
        }
        MemorySegment via = bounce(buffer.remaining());
        long most = Math.min(buffer.remaining(), via.byteSize());
        via.copyFrom(MemorySegment.ofBuffer(buffer).asSlice(0, most));
        return kernel.write(fd, via.address(), most);
    }

    /// Room for so many bytes, or as many as are moved at a time. Grows with what is asked of it.
    private MemorySegment bounce(int bytes) {
        int most = Thread.currentThread().isVirtual() ? MAX_VIRTUAL_BOUNCE_BYTES : MAX_BOUNCE_BYTES;
        int wanted = Math.min(bytes, most);
        if (bounce == null || bounce.byteSize() < wanted) {
            bounce = Memory.allocate(Math.min(most, Math.max(64, 2 * wanted)));
        }
        return bounce;
    }
}
