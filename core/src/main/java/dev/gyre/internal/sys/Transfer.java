package dev.gyre.internal.sys;

import dev.gyre.SystemCallException;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;

/// Moves bytes between a descriptor and a buffer with one system call. Direct buffers are used in
/// place. The garbage collector may move a heap buffer during the call, so its bytes go through a
/// bounce buffer of the thread.
public final class Transfer {
    private static final int END = -1;

    /// The maximum bytes of a heap buffer per call. The second applies to virtual threads, which
    /// may be very many.
    private static final int MAX_BOUNCE_BYTES = 1 << 16;

    private static final int MAX_VIRTUAL_BOUNCE_BYTES = 1 << 12;

    private static final ThreadLocal<Transfer> OF_THREAD = ThreadLocal.withInitial(Transfer::new);

    // One thread only.
    private final CachedAddress reading = new CachedAddress();
    private final CachedAddress writing = new CachedAddress();
    private @Nullable MemorySegment bounce;

    private Transfer() {}

    /// Caches the address of the direct buffer used last: computing it allocates an object, and
    /// most threads use the same buffer repeatedly.
    private static final class CachedAddress {
        private WeakReference<@Nullable ByteBuffer> last = new WeakReference<>(null);

        /// The lifetime of the memory; it does not retain the buffer.
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

    /// Returns the number of bytes; 0 if the call would block or there is no room; -1 at the end.
    public static int read(PollCalls kernel, int fd, ByteBuffer buffer) {
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
        return received("read", result, fd, buffer);
    }

    private long readInto(PollCalls kernel, int fd, ByteBuffer buffer) {
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

    /// Receives once from a socket, without blocking even if the socket itself would.
    ///
    /// @param buffer a direct one with space left
    /// @return the number of bytes; 0 if the call would block; -1 at the end
    public static int receive(SocketCalls sockets, int fd, ByteBuffer buffer) {
        MemorySegment target = MemorySegment.ofBuffer(buffer); // From its position on.
        long result;
        do {
            result = sockets.recv(fd, target.address(), target.byteSize(), Linux.MSG_DONTWAIT);
        } while (result == -Errno.EINTR);
        return received("recv", result, fd, buffer);
    }

    private static int received(String call, long result, int fd, ByteBuffer buffer) {
        if (result > 0) {
            buffer.position(buffer.position() + (int) result);
            return (int) result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        if (result < 0) {
            throw new SystemCallException(call, (int) -result, fd);
        }
        return END;
    }

    /// Returns the number of bytes; 0 if the call would block or there is nothing to write.
    public static int write(PollCalls kernel, int fd, ByteBuffer buffer) {
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

    private long writeFrom(PollCalls kernel, int fd, ByteBuffer buffer) {
        if (buffer.isDirect()) {
            return kernel.write(fd, writing.addressOf(buffer), buffer.remaining());
        }
        MemorySegment via = bounce(buffer.remaining());
        long most = Math.min(buffer.remaining(), via.byteSize());
        via.copyFrom(MemorySegment.ofBuffer(buffer).asSlice(0, most));
        return kernel.write(fd, via.address(), most);
    }

    /// Returns memory for that many bytes, up to the maximum per call. It grows with demand.
    private MemorySegment bounce(int bytes) {
        int most = Thread.currentThread().isVirtual() ? MAX_VIRTUAL_BOUNCE_BYTES : MAX_BOUNCE_BYTES;
        int wanted = Math.min(bytes, most);
        if (bounce == null || bounce.byteSize() < wanted) {
            bounce = Memory.allocate(Math.min(most, Math.max(64, 2 * wanted)));
        }
        return bounce;
    }
}
