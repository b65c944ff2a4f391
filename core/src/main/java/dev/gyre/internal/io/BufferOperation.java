package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.sys.Linux;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// Reads into one buffer or writes from one, on a stream or at an offset of a file.
public final class BufferOperation extends LoopOperation {
    private @Nullable NativeBuffer buffer;

    BufferOperation(LoopOperations operations, OperationPools.Pool<BufferOperation> pool) {
        super(operations, pool);
    }

    public BufferOperation of(
            Opcode opcode,
            OpenDescriptor descriptor,
            Buffer buffer,
            Consumer<? super Operation> callback) {
        init(opcode, descriptor, callback);
        this.buffer = (NativeBuffer) buffer;
        return this;
    }

    public BufferOperation at(long offset) {
        request.offset = offset;
        return this;
    }

    /// Announces that another write follows at once, so that the kernel may send both in one
    /// packet.
    public BufferOperation moreFollows() {
        request.flags = Linux.MSG_MORE;
        return this;
    }

    private boolean fills() {
        return switch (request.opcode) {
            case READ, READ_URGENT, FILE_READ -> true;
            default -> false;
        };
    }

    @Override
    void prepare() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.lendTo(this);
        long bytes = fills() ? given.writableBytes() : given.readableBytes();
        if (bytes == 0) {
            given.endLoan();
            throw new IllegalStateException(
                    fills()
                            ? this + " has no room to read into: clear() or compact() the buffer"
                            : this + " has nothing to write: put() bytes into the buffer");
        }
        request.address = fills() ? given.writeAddress() : given.readAddress();
        request.length = bytes;
        if (request.opcode.kind == Kind.FILE) {
            request.fd = Objects.requireNonNull(descriptor).lifetime().fd;
        }
    }

    @Override
    void settle() {
        NativeBuffer given = Objects.requireNonNull(buffer);
        given.endLoan();
        if (!fills()) {
            given.advanceReadIndex(request.transferred);
        } else if (request.result > 0) {
            given.advanceWriteIndex(request.result);
        }
    }

    @Override
    void forget() {
        buffer = null;
    }
}
