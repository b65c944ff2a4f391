package dev.gyre.internal.io;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.function.Supplier;

/// Operations that were released, by sort, for others to be made of.
///
/// Loop thread only.
public final class OperationPools {
    /// More than this of a sort are left to the garbage collector.
    private static final int MOST = 1 << 16;

    private final Pool<BufferOperation> buffered;
    private final Pool<VectorOperation> vectored;
    private final Pool<AcceptOperation> accepting;
    private final Pool<ReceiveOperation> receiving;
    private final Pool<MessageOperation> messages;
    private final Pool<PlainOperation> plain;
    private final Pool<FileOpenOperation> opening;
    private final Pool<FileStatOperation> looking;

    private static final class Pool<T extends LoopOperation> {
        private final Supplier<T> fresh;
        private final ArrayDeque<T> free = new ArrayDeque<>();

        Pool(Supplier<T> fresh, int preallocated) {
            this.fresh = fresh;
            for (int i = 0; i < preallocated; i++) {
                free.add(fresh.get());
            }
        }

        T take() {
            @Nullable T known = free.pollLast();
            return known != null ? known : fresh.get();
        }

        void give(T operation) {
            if (free.size() < MOST) {
                free.addLast(operation);
            }
        }
    }

    OperationPools(LoopOperations operations, int preallocated) {
        buffered = new Pool<>(() -> new BufferOperation(operations), preallocated);
        vectored = new Pool<>(() -> new VectorOperation(operations), preallocated);
        accepting = new Pool<>(() -> new AcceptOperation(operations), preallocated);
        receiving = new Pool<>(() -> new ReceiveOperation(operations), preallocated);
        messages = new Pool<>(() -> new MessageOperation(operations), preallocated);
        plain = new Pool<>(() -> new PlainOperation(operations), preallocated);
        opening = new Pool<>(() -> new FileOpenOperation(operations), preallocated);
        looking = new Pool<>(() -> new FileStatOperation(operations), preallocated);
    }

    public BufferOperation buffered() {
        return buffered.take();
    }

    public VectorOperation vectored() {
        return vectored.take();
    }

    public AcceptOperation accepting() {
        return accepting.take();
    }

    public ReceiveOperation receiving() {
        return receiving.take();
    }

    public MessageOperation message() {
        return messages.take();
    }

    public PlainOperation plain() {
        return plain.take();
    }

    public FileOpenOperation opening() {
        return opening.take();
    }

    public FileStatOperation looking() {
        return looking.take();
    }

    // By overloading, as each sort knows itself: a switch over types is slow until it is warm,
    // since the JDK makes a class for it at every start.

    void give(BufferOperation operation) {
        buffered.give(operation);
    }

    void give(VectorOperation operation) {
        vectored.give(operation);
    }

    void give(AcceptOperation operation) {
        accepting.give(operation);
    }

    void give(ReceiveOperation operation) {
        receiving.give(operation);
    }

    void give(MessageOperation operation) {
        messages.give(operation);
    }

    void give(PlainOperation operation) {
        plain.give(operation);
    }

    void give(FileOpenOperation operation) {
        opening.give(operation);
    }

    void give(FileStatOperation operation) {
        looking.give(operation);
    }
}
