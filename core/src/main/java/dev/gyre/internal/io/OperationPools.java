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
    private final Pool<LoopAccept> accepting;
    private final Pool<LoopReceive> receiving;
    private final Pool<LoopMessage> messages;
    private final Pool<PlainOperation> plain;
    private final Pool<LoopFileOpen> opening;
    private final Pool<LoopFileStat> looking;

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
        accepting = new Pool<>(() -> new LoopAccept(operations), preallocated);
        receiving = new Pool<>(() -> new LoopReceive(operations), preallocated);
        messages = new Pool<>(() -> new LoopMessage(operations), preallocated);
        plain = new Pool<>(() -> new PlainOperation(operations), preallocated);
        opening = new Pool<>(() -> new LoopFileOpen(operations), preallocated);
        looking = new Pool<>(() -> new LoopFileStat(operations), preallocated);
    }

    public BufferOperation buffered() {
        return buffered.take();
    }

    public VectorOperation vectored() {
        return vectored.take();
    }

    public LoopAccept accepting() {
        return accepting.take();
    }

    public LoopReceive receiving() {
        return receiving.take();
    }

    public LoopMessage message() {
        return messages.take();
    }

    public PlainOperation plain() {
        return plain.take();
    }

    public LoopFileOpen opening() {
        return opening.take();
    }

    public LoopFileStat looking() {
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

    void give(LoopAccept operation) {
        accepting.give(operation);
    }

    void give(LoopReceive operation) {
        receiving.give(operation);
    }

    void give(LoopMessage operation) {
        messages.give(operation);
    }

    void give(PlainOperation operation) {
        plain.give(operation);
    }

    void give(LoopFileOpen operation) {
        opening.give(operation);
    }

    void give(LoopFileStat operation) {
        looking.give(operation);
    }
}
