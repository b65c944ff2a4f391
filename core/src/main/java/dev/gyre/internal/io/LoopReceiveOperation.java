package dev.gyre.internal.io;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.io.Buffer;
import dev.gyre.io.operation.ReceiveOperation;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Receives into the loop's receive buffers.
public final class LoopReceiveOperation extends LoopOperation implements ReceiveOperation {
    // Loop thread only.
    private @Nullable NativeBuffer received;
    private boolean kept;

    /// The index of the received buffer. A restart changes the request's own index.
    private int index = -1;

    /// One view per receive buffer of a loop, created when first lent. Loop thread only.
    static final class Views {
        private static final String ENDED =
                "the loop again: it is valid during the callback only, unless keep() was called";

        private final OperationEngine engine;
        private final LoopOperations operations;

        /// Reused while not kept. The user may still hold the view of a kept buffer after its
        /// release, so that view is never reused.
        private @Nullable NativeBuffer[] views = new @Nullable NativeBuffer[0];

        Views(OperationEngine requests, LoopOperations operations) {
            this.engine = requests;
            this.operations = operations;
        }

        /// Lends a buffer with received bytes to one callback.
        NativeBuffer lend(int index, long bytes) {
            ReceiveBuffers buffers = engine.buffers();
            if (views.length == 0) {
                views = new @Nullable NativeBuffer[buffers.count()];
            }
            NativeBuffer view = views[index];
            if (view == null) {
                // Kept buffers are released on any thread.
                RefCountedMemory.Owner owner =
                        () -> operations.onLoop(() -> engine.releaseBuffer(index));
                view = new NativeBuffer(new RefCountedMemory(buffers.memory(index), owner));
                views[index] = view;
            }
            view.recycle();
            view.beginBorrowing();
            view.advanceWriteIndex(bytes);
            return view;
        }

        /// Leaves a buffer to the user after the callback.
        void keep(int index, NativeBuffer view) {
            view.keep();
            operations.leaks.track(view);
            views[index] = null;
        }

        /// Returns a buffer that was not kept, after the callback.
        void release(int index, NativeBuffer view) {
            view.endBorrowing(ENDED);
            engine.releaseBuffer(index);
        }
    }

    LoopReceiveOperation(
            LoopOperations operations, OperationPools.Pool<LoopReceiveOperation> pool) {
        super(operations, pool);
    }

    public LoopReceiveOperation of(
            OpenDescriptor descriptor, Consumer<? super ReceiveOperation> callback) {
        init(Opcode.RECEIVE, descriptor, callback);
        request.multishot = true;
        return this;
    }

    @Override
    void settle() {
        kept = false;
        index = request.buffer;
        received = null;
        if (request.result > 0 && index >= 0) {
            try {
                received = operations.receiveViews.lend(index, request.result);
            } catch (Throwable e) {
                operations.engine.releaseBuffer(index); // discard() sees no view of it.
                throw e;
            }
        }
    }

    @Override
    void discard() {
        if (received != null && !kept) {
            operations.receiveViews.release(index, received);
        }
        received = null;
    }

    @Override
    public Buffer received() {
        operations.context.requireConfined("received");
        NativeBuffer buffer = received;
        if (buffer == null) {
            throw new IllegalStateException(this + " received no bytes: result " + result());
        }
        return buffer;
    }

    @Override
    public Buffer keep() {
        Buffer buffer = received();
        if (!kept) {
            kept = true;
            operations.receiveViews.keep(index, (NativeBuffer) buffer);
        }
        return buffer;
    }

    @Override
    public boolean hasMore() {
        operations.context.requireConfined("hasMore");
        return request.more;
    }
}
