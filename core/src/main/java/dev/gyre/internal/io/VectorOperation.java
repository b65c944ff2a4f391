package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Buffer;
import dev.gyre.io.Operation;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// Reads into several buffers with one call, or writes from several.
public final class VectorOperation extends LoopOperation {
    private NativeBuffer[] buffers = {};
    private @Nullable NativeBytes vectors;

    VectorOperation(LoopOperations operations) {
        super(operations);
    }

    public VectorOperation of(
            Opcode opcode,
            OpenDescriptor descriptor,
            List<? extends Buffer> buffers,
            Consumer<? super Operation> callback) {
        if (buffers.isEmpty() || buffers.size() > Linux.IOV_MAX) {
            throw new IllegalArgumentException(
                    "from 1 to " + Linux.IOV_MAX + " buffers, not " + buffers.size());
        }
        become(opcode, descriptor, callback);
        this.buffers = buffers.toArray(NativeBuffer[]::new);
        long bytes = (long) buffers.size() * Linux.SIZEOF_IOVEC;
        if (vectors == null || vectors.size() < bytes) {
            vectors = NativeBytes.allocate(bytes);
        }
        return this;
    }

    @Override
    void prepare() {
        long at = Objects.requireNonNull(vectors).address();
        boolean fills = request.opcode == Opcode.READ_VECTOR;
        long bytes = 0;
        int used = 0;
        int lent = 0;
        try {
            for (; lent < buffers.length; lent++) {
                NativeBuffer buffer = buffers[lent];
                buffer.lend(this);
                int length = fills ? buffer.bytesToWrite() : buffer.bytesToRead();
                if (length > 0) {
                    Memory.putLong(at, fills ? buffer.writingAddress() : buffer.readingAddress());
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
                buffers[--lent].takeBack();
            }
            throw e;
        }
        request.address = Objects.requireNonNull(vectors).address();
        request.length = used;
        request.offset = 0;
    }

    @Override
    void settle() {
        boolean fills = request.opcode == Opcode.READ_VECTOR;
        long left = fills ? Math.max(0, request.result) : request.transferred;
        for (NativeBuffer buffer : buffers) {
            buffer.takeBack();
            long share = Math.min(left, fills ? buffer.bytesToWrite() : buffer.bytesToRead());
            if (fills) {
                buffer.filled(share);
            } else {
                buffer.emptied(share);
            }
            left -= share;
        }
    }

    @Override
    void forget() {
        buffers = new NativeBuffer[0];
    }
}
