package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.Operation;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// Reads into several buffers or writes from several, with one call.
public final class VectorOperation extends LoopOperation {
    private @Nullable NativeBuffer[] buffers = {};
    private int count;
    private @Nullable NativeBytes vectors;

    VectorOperation(LoopOperations operations, OperationPools.Pool<VectorOperation> pool) {
        super(operations, pool);
    }

    public VectorOperation of(
            Opcode opcode,
            OpenDescriptor descriptor,
            List<? extends Buffer> buffers,
            Consumer<? super Operation> callback) {
        if (buffers.isEmpty() || buffers.size() > Linux.IOV_MAX) {
            throw new IllegalArgumentException(
                    "buffers must be from 1 to " + Linux.IOV_MAX + ", but are " + buffers.size());
        }
        init(opcode, descriptor, callback);
        count = 0;
        for (Buffer each : buffers) {
            add((NativeBuffer) each);
        }
        return this;
    }

    /// Writes the buffers [added][#add] before the start.
    public VectorOperation gather(OpenDescriptor descriptor, Consumer<? super Operation> callback) {
        init(Opcode.WRITE_VECTOR, descriptor, callback);
        count = 0;
        return this;
    }

    public void add(NativeBuffer buffer) {
        if (count == buffers.length) {
            buffers = Arrays.copyOf(buffers, Math.max(4, count * 2));
        }
        buffers[count++] = buffer;
    }

    private NativeBuffer at(int index) {
        return Objects.requireNonNull(buffers[index]);
    }

    private NativeBytes vectors() {
        long bytes = (long) count * Linux.SIZEOF_IOVEC;
        NativeBytes known = vectors;
        if (known == null || known.size() < bytes) {
            known = NativeBytes.allocate((long) buffers.length * Linux.SIZEOF_IOVEC);
            vectors = known;
        }
        return known;
    }

    @Override
    void prepare() {
        long first = vectors().address();
        long at = first;
        boolean fills = request.opcode == Opcode.READ_VECTOR;
        long bytes = 0;
        int used = 0;
        int lent = 0;
        try {
            for (; lent < count; lent++) {
                NativeBuffer buffer = at(lent);
                buffer.lendTo(this);
                int length = fills ? buffer.writableBytes() : buffer.readableBytes();
                if (length > 0) {
                    Memory.putLong(at, fills ? buffer.writeAddress() : buffer.readAddress());
                    Memory.putLong(at + Linux.OFFSETOF_IOVEC_LEN, length);
                    at += Linux.SIZEOF_IOVEC;
                    used++;
                    bytes += length;
                }
            }
            if (bytes == 0) {
                throw new IllegalStateException(
                        this + (fills ? " has no room to read into" : " has nothing to write"));
            }
        } catch (Throwable e) {
            while (lent > 0) {
                at(--lent).endLoan();
            }
            throw e;
        }
        request.address = first;
        request.length = used;
        request.offset = 0;
    }

    @Override
    void settle() {
        boolean fills = request.opcode == Opcode.READ_VECTOR;
        long left = fills ? Math.max(0, request.result) : request.transferred;
        for (int i = 0; i < count; i++) {
            NativeBuffer buffer = at(i);
            buffer.endLoan();
            long share = Math.min(left, fills ? buffer.writableBytes() : buffer.readableBytes());
            if (fills) {
                buffer.advanceWriteIndex(share);
            } else {
                buffer.advanceReadIndex(share);
            }
            left -= share;
        }
    }

    @Override
    void forget() {
        Arrays.fill(buffers, 0, count, null);
        count = 0;
    }
}
