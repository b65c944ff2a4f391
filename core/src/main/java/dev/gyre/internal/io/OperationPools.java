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

    void give(LoopOperation operation) {
        switch (operation) {
            case BufferOperation of -> buffered.give(of);
            case VectorOperation of -> vectored.give(of);
            case AcceptOperation of -> accepting.give(of);
            case ReceiveOperation of -> receiving.give(of);
            case MessageOperation of -> messages.give(of);
            case PlainOperation of -> plain.give(of);
            case FileOpenOperation of -> opening.give(of);
            case FileStatOperation of -> looking.give(of);
        }
    }
}
