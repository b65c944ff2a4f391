package dev.gyre.internal.io;

import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.sys.NativeBytes;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Objects;

/// The loop's memory for buffers, within a limit. It is taken from the system in slabs, each cut
/// into parts of one size; what is larger than the largest of them is allocated for the purpose.
///
/// A part has one view that is handed out again and again, so that taking and releasing allocate
/// nothing. Whoever takes it is trusted not to use it after its release, when it may be somebody
/// else's. Users are not: they get a view of their own each time.
///
/// Loop thread only, but for what [#used()] says. Buffers are released on any thread.
public final class BufferPool {
    private static final int[] SIZES = {1 << 12, 1 << 14, 1 << 16};
    private static final int SLAB_BYTES = 1 << 20;

    private final LoopOperations operations;
    private final Shelf[] shelves = new Shelf[SIZES.length];
    private final long limit;
    private final long tightAbove;
    private final Counter used = new Counter();

    /// Of slabs: more than is used, never more than the limit if it can be helped.
    private long reserved;

    private final TaskRing waiting = new TaskRing("waiters for buffer memory");
    private final Runnable callWaiting = this::callWaiting;
    private boolean calling;

    /// What lies ready of one size. A stack: the part used last is the one still in the cache.
    private static final class Shelf {
        final int size;
        @Nullable Part[] free = new @Nullable Part[0];
        int top;

        /// How many there are, out or free.
        int parts;

        Shelf(int size) {
            this.size = size;
        }
    }

    private static final class Slab {
        int free;
    }

    /// A part of a slab, or a piece of its own.
    private final class Part implements MemoryPiece.Lender, Runnable {
        final @Nullable Shelf shelf;
        final @Nullable Slab slab;
        final MemoryPiece piece;
        final NativeBuffer view;

        Part(@Nullable Shelf shelf, @Nullable Slab slab, NativeBytes bytes) {
            this.shelf = shelf;
            this.slab = slab;
            piece = new MemoryPiece(bytes, this);
            view = new NativeBuffer(piece);
        }

        @Override
        public void takeBack() {
            operations.onLoop(this);
        }

        @Override
        public void run() {
            giveBack(this);
        }
    }

    BufferPool(LoopOperations operations, long limit) {
        this.operations = operations;
        this.limit = limit;
        tightAbove = limit / 4 * 3;
        for (int i = 0; i < SIZES.length; i++) {
            shelves[i] = new Shelf(SIZES[i]);
        }
    }

    /// Takes an empty buffer, for code of ours.
    ///
    /// @return null if there is no more memory within the limit
    public @Nullable NativeBuffer take(int atLeast) {
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        part.view.reopen();
        return part.view;
    }

    /// Takes an empty buffer that no earlier one can be mistaken for.
    ///
    /// @return null if there is no more memory within the limit
    public @Nullable NativeBuffer takeForUser(int atLeast) {
        operations.host.requireOpen("Buffer.take");
        NativeBuffer.requireSize(atLeast);
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        NativeBuffer taken = new NativeBuffer(part.piece);
        operations.leaks.watch(taken);
        return taken;
    }

    public NativeBuffer takeOrThrow(int atLeast) {
        NativeBuffer taken = takeForUser(atLeast);
        if (taken == null) {
            throw new LoopOverloadedException(
                    "no buffer of "
                            + atLeast
                            + " bytes: "
                            + used()
                            + " of "
                            + limit
                            + " are in use (LoopConfig.withBufferMemory)");
        }
        return taken;
    }

    private @Nullable Part part(int atLeast) {
        for (Shelf shelf : shelves) {
            if (atLeast <= shelf.size) {
                return fits(shelf.size) ? pop(shelf) : null;
            }
        }
        if (!fits(atLeast)) {
            return null;
        }
        Part large = new Part(null, null, NativeBytes.allocate(atLeast));
        used.add(atLeast);
        return large;
    }

    private boolean fits(int bytes) {
        return used.get() + bytes <= limit;
    }

    private Part pop(Shelf shelf) {
        if (shelf.top == 0) {
            stock(shelf);
        }
        Part part = Objects.requireNonNull(shelf.free[--shelf.top]);
        Objects.requireNonNull(part.slab).free--;
        used.add(shelf.size);
        return part;
    }

    private void giveBack(Part part) {
        used.add(-part.piece.bytes.size());
        Shelf shelf = part.shelf;
        if (shelf != null && part.slab != null) {
            part.slab.free++;
            shelf.free[shelf.top++] = part;
        }
        if (!waiting.isEmpty()) {
            callWaitingSoon();
        }
    }

    // ------------------------------------------------------------------ slabs

    private void stock(Shelf shelf) {
        if (reserved + SLAB_BYTES > limit) {
            dropFreeSlabs();
        }
        NativeBytes memory = NativeBytes.allocate(SLAB_BYTES);
        int count = SLAB_BYTES / shelf.size;
        // The stack has room for all there are, so that giving back allocates nothing.
        shelf.free = Arrays.copyOf(shelf.free, shelf.parts + count);
        Slab slab = new Slab();
        for (int i = count - 1; i >= 0; i--) {
            NativeBytes bytes = memory.part((long) i * shelf.size, shelf.size);
            shelf.free[shelf.top++] = new Part(shelf, slab, bytes);
        }
        slab.free = count;
        shelf.parts += count;
        reserved += SLAB_BYTES;
    }

    /// What one size had in a burst is not kept when another one needs it.
    private void dropFreeSlabs() {
        for (Shelf shelf : shelves) {
            int inSlab = SLAB_BYTES / shelf.size;
            int kept = 0;
            for (int i = 0; i < shelf.top; i++) {
                Part part = Objects.requireNonNull(shelf.free[i]);
                if (Objects.requireNonNull(part.slab).free < inSlab) {
                    shelf.free[kept++] = part;
                }
            }
            int dropped = shelf.top - kept;
            shelf.parts -= dropped;
            shelf.top = kept;
            shelf.free = Arrays.copyOf(Arrays.copyOf(shelf.free, kept), shelf.parts);
            reserved -= (long) dropped * shelf.size;
        }
    }

    // ------------------------------------------------------------------ how much there is

    /// How many bytes are out. Any thread.
    public long used() {
        return used.get();
    }

    long reserved() {
        return reserved;
    }

    public long limit() {
        return limit;
    }

    /// Whether so much is out that whoever can do without should.
    public boolean isTight() {
        return used.get() > tightAbove;
    }

    /// Calls once, in a turn of the loop to come, when it is not tight.
    public void whenRelaxed(Runnable waiter) {
        waiting.add(waiter);
        callWaitingSoon();
    }

    private void callWaitingSoon() {
        if (calling || isTight()) {
            return;
        }
        try {
            operations.host.loop().defer(callWaiting);
            calling = true;
        } catch (LoopTerminatedException e) {
            waiting.clear(); // There is no turn to come.
        }
    }

    private void callWaiting() {
        calling = false;
        int most = waiting.size(); // Who waits again in its call is called in a later turn.
        try {
            while (most-- > 0 && !isTight()) {
                waiting.take().run();
            }
        } finally {
            if (!waiting.isEmpty()) {
                callWaitingSoon();
            }
        }
    }
}
