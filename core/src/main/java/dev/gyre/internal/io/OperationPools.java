package dev.gyre.internal.io;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.function.BiFunction;

/// The released operations of a loop, by kind, for reuse.
///
/// Loop thread only.
public final class OperationPools {
    /// The maximum of free operations per kind. The garbage collector frees the rest.
    private static final int MAX_FREE = 1 << 16;

    public final Pool<BufferOperation> buffered;
    public final Pool<VectorOperation> vectored;
    public final Pool<LoopAcceptOperation> accepting;
    public final Pool<LoopReceiveOperation> receiving;
    public final Pool<LoopMessageOperation> message;
    public final Pool<BufferlessOperation> bufferless;
    public final Pool<LoopFileOpenOperation> opening;
    public final Pool<LoopFileStatOperation> stat;

    public static final class Pool<T extends LoopOperation> {
        private final LoopOperations operations;
        private final BiFunction<LoopOperations, Pool<T>, T> factory;
        private final ArrayDeque<T> free = new ArrayDeque<>();

        Pool(
                LoopOperations operations,
                int preallocated,
                BiFunction<LoopOperations, Pool<T>, T> factory) {
            this.operations = operations;
            this.factory = factory;
            for (int i = 0; i < preallocated; i++) {
                free.add(factory.apply(operations, this));
            }
        }

        public T acquire() {
            @Nullable T known = free.pollLast();
            return known != null ? known : factory.apply(operations, this);
        }

        /// @param operation one that this pool's factory created
        @SuppressWarnings("unchecked") // The factory creates only T, and passes this pool to it.
        void release(LoopOperation operation) {
            if (free.size() < MAX_FREE) {
                free.addLast((T) operation);
            }
        }
    }

    OperationPools(LoopOperations operations, int preallocated) {
        buffered = new Pool<>(operations, preallocated, BufferOperation::new);
        vectored = new Pool<>(operations, preallocated, VectorOperation::new);
        accepting = new Pool<>(operations, preallocated, LoopAcceptOperation::new);
        receiving = new Pool<>(operations, preallocated, LoopReceiveOperation::new);
        message = new Pool<>(operations, preallocated, LoopMessageOperation::new);
        bufferless = new Pool<>(operations, preallocated, BufferlessOperation::new);
        opening = new Pool<>(operations, preallocated, LoopFileOpenOperation::new);
        stat = new Pool<>(operations, preallocated, LoopFileStatOperation::new);
    }
}
