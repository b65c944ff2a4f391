package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Receives in buffers of the loop's own.
public final class LoopReceive extends LoopOperation implements ReceiveOperation {
    private @Nullable NativeBuffer received;
    private boolean kept;

    /// Of what was received: the request has another one as soon as it is started anew.
    private int number = -1;

    LoopReceive(LoopOperations operations) {
        super(operations);
    }

    public LoopReceive of(OpenDescriptor descriptor, Consumer<? super ReceiveOperation> callback) {
        become(
                Opcode.RECEIVE,
                descriptor,
                (Operation done) -> callback.accept((ReceiveOperation) done));
        request.multishot = true;
        return this;
    }

    @Override
    void prepare() {}

    @Override
    void settle() {
        kept = false;
        number = request.buffer;
        received =
                request.result > 0 && number >= 0
                        ? operations.buffers.lend(number, request.result)
                        : null;
    }

    @Override
    void finished() {
        if (received != null && !kept) {
            operations.buffers.give(number, received);
        }
        received = null;
    }

    @Override
    void discard() {
        finished();
    }

    @Override
    void forget() {
        received = null;
    }

    @Override
    void returnTo(OperationPools pools) {
        pools.give(this);
    }

    @Override
    public Buffer received() {
        operations.host.requireConfined("received");
        NativeBuffer buffer = received;
        if (buffer == null) {
            throw new IllegalStateException("nothing was received: the result is " + result());
        }
        return buffer;
    }

    @Override
    public Buffer keep() {
        Buffer buffer = received();
        if (!kept) {
            kept = true;
            operations.buffers.keep(number, (NativeBuffer) buffer);
        }
        return buffer;
    }

    @Override
    public boolean hasMore() {
        operations.host.requireConfined("hasMore");
        return request.more;
    }
}
