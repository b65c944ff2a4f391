package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.function.Consumer;

/// An operation without a user's buffer: connects, moves bytes between descriptors, syncs or closes
/// a file, or waits for the peer's end.
public final class BufferlessOperation extends LoopOperation {
    private @Nullable NativeBytes address;

    /// The other descriptor, whose fd stays open while the operation is pending.
    private @Nullable OpenDescriptor other;

    BufferlessOperation(LoopOperations operations, OperationPools.Pool<BufferlessOperation> pool) {
        super(operations, pool);
    }

    public BufferlessOperation connect(
            OpenDescriptor socket, SocketAddress to, Consumer<? super Operation> callback) {
        NativeBytes memory = address;
        if (memory == null) {
            memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
            address = memory;
        }
        init(Opcode.CONNECT, socket, callback);
        request.length = SocketAddresses.encode(to, memory);
        request.address = memory.address();
        return this;
    }

    public BufferlessOperation move(
            Opcode opcode,
            OpenDescriptor descriptor,
            OpenDescriptor other,
            long offset,
            long bytes,
            Consumer<? super Operation> callback) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes must be at least 1, but is " + bytes);
        }
        init(opcode, descriptor, callback);
        this.other = other;
        request.offset = offset;
        request.length = bytes;
        return this;
    }

    /// Waits for the peer's end or a connection error, without reading.
    ///
    /// @param ready which bits of [dev.gyre.internal.backend.Readiness] complete it
    public BufferlessOperation pollEnd(
            OpenDescriptor socket, int ready, Consumer<? super Operation> callback) {
        init(Opcode.POLL_END, socket, callback);
        request.flags = ready;
        return this;
    }

    public BufferlessOperation sync(
            OpenDescriptor file, boolean dataOnly, Consumer<? super Operation> callback) {
        init(Opcode.FILE_SYNC, file, callback);
        request.flags = dataOnly ? 1 : 0;
        return this;
    }

    public BufferlessOperation close(OpenDescriptor file, Consumer<? super Operation> callback) {
        init(Opcode.FILE_CLOSE, file, callback);
        return this;
    }

    @Override
    void prepare() {
        if (other != null) {
            other.lifetime().acquire();
            request.fd2 = other.lifetime().fd;
        }
        if (descriptor != null && request.opcode == Opcode.FILE_SYNC) {
            request.fd = descriptor.lifetime().fd;
        } else if (descriptor != null && request.opcode == Opcode.FILE_CLOSE) {
            descriptor.lifetime().requireOpen();
            request.fd = descriptor.lifetime().closeKeepingFd();
        }
    }

    @Override
    void settle() {
        if (other != null) {
            other.lifetime().release();
        }
        if (request.opcode == Opcode.FILE_CLOSE && request.isCancelled() && request.fd >= 0) {
            // The request did not run, and no other owner of the fd is left.
            int _ = operations.syscalls.kernels().get().close(request.fd);
        }
    }

    @Override
    void forget() {
        other = null;
    }
}
