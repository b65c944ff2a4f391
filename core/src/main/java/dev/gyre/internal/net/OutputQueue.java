package dev.gyre.internal.net;

import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;

/// Pending output, in order: pooled memory, lent buffers and ranges of files. Small writes share
/// the last pooled buffer, so that many of them are sent by one call. An empty queue holds no
/// memory.
///
/// Loop thread only.
final class OutputQueue {
    /// The buffer sizes for the first small write and for all others.
    private static final int SMALL = 4 << 10;

    private static final int LARGE = 16 << 10;

    /// The cost of a file range within the output limit: about its size on the heap.
    static final int FILE_PART_BYTES = 256;

    private static final Object[] NONE = {};
    private static final int MAX_IDLE_PIECES = 16;

    private record LentBuffer(
            Connection by, NativeBuffer memory, Consumer<? super Buffer> onReturned)
            implements Runnable {
        /// Notifies the user later, so that a callback that throws cannot interrupt the connection.
        void giveBack() {
            memory.endLoan();
            by.streams.notifyLater(this);
        }

        @Override
        public void run() {
            onReturned.accept(memory);
        }
    }

    static final class FilePart {
        final OpenDescriptor file;
        private final StreamPromise<Long> outcome;
        private long offset;
        private long left;
        private long sent;

        FilePart(OpenDescriptor file, long offset, long bytes, StreamPromise<Long> outcome) {
            this.file = file;
            this.offset = offset;
            this.left = bytes;
            this.outcome = outcome;
        }

        long offset() {
            return offset;
        }

        long left() {
            return left;
        }

        private void sent(long bytes) {
            offset += bytes;
            left -= bytes;
            sent += bytes;
        }
    }

    private BufferPool pool;

    /// A ring of [NativeBuffer] (pooled), [LentBuffer] and [FilePart].
    private @Nullable Object[] pieces = NONE;

    private int head;
    private int count;
    private long memoryBytes;
    private long fileBytes;
    private int fileParts;
    private long marked;

    OutputQueue(BufferPool pool) {
        this.pool = pool;
    }

    boolean isEmpty() {
        return count == 0;
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /// Pending bytes in memory, and the cost of the pending file ranges.
    long heldBytes() {
        return memoryBytes + (long) fileParts * FILE_PART_BYTES;
    }

    long bytes() {
        return memoryBytes + fileBytes;
    }

    void mark() {
        marked = bytes();
    }

    /// How many bytes before the mark are pending; zero without a mark.
    long bytesBeforeMark() {
        return marked;
    }

    /// Returns false if the pool is exhausted; a part may have been added.
    boolean put(NativeBuffer from) {
        for (int left = from.readable(); left > 0; left = from.readable()) {
            NativeBuffer room = room(left);
            if (room == null) {
                return false;
            }
            memoryBytes += room.transferFrom(from, Math.min(left, room.writable()));
        }
        return true;
    }

    boolean put(byte[] from) {
        int at = 0;
        while (at < from.length) {
            NativeBuffer room = room(from.length - at);
            if (room == null) {
                return false;
            }
            int part = Math.min(from.length - at, room.writable());
            room.put(from, at, part);
            at += part;
            memoryBytes += part;
        }
        return true;
    }

    boolean put(ByteBuffer from) {
        int end = from.limit();
        while (from.position() < end) {
            NativeBuffer room = room(end - from.position());
            if (room == null) {
                return false;
            }
            int part = Math.min(end - from.position(), room.writable());
            from.limit(from.position() + part);
            room.put(from);
            from.limit(end);
            memoryBytes += part;
        }
        return true;
    }

    /// Borrows a buffer of the user's until it is sent or the queue is cleared.
    ///
    /// @param onReturned called later, once the queue has returned the buffer
    /// @param wanted false to return it unsent
    /// @return how many bytes it adds
    int lend(
            Connection by,
            NativeBuffer memory,
            Consumer<? super Buffer> onReturned,
            boolean wanted) {
        memory.lendTo(by);
        LentBuffer lent = new LentBuffer(by, memory, onReturned);
        int bytes = wanted ? memory.readableBytes() : 0;
        if (bytes == 0) {
            lent.giveBack();
        } else {
            memoryBytes += bytes;
            add(lent);
        }
        return bytes;
    }

    void put(FilePart part) {
        fileBytes += part.left();
        fileParts++;
        add(part);
    }

    /// Adds a filled buffer. The queue releases it.
    void putOwned(NativeBuffer filled) {
        memoryBytes += filled.readable();
        add(filled);
    }

    /// Returns the last buffer if it has room, or else a new one.
    private @Nullable NativeBuffer room(int wanted) {
        if (count > 0
                && at(count - 1) instanceof NativeBuffer last
                && !last.isInFlight()
                && last.writable() > 0) {
            return last;
        }
        NativeBuffer fresh = pool.acquire(wanted <= SMALL && count == 0 ? SMALL : LARGE);
        if (fresh != null) {
            add(fresh);
        }
        return fresh;
    }

    /// The file range at the head; null if the head is memory.
    @Nullable FilePart filePart() {
        return count > 0 && at(0) instanceof FilePart part ? part : null;
    }

    /// The memory at an index; null at the end of the queue or at a file range.
    @Nullable NativeBuffer memory(int place) {
        if (place >= count) {
            return null;
        }
        Object piece = at(place);
        if (piece instanceof NativeBuffer own) {
            return own;
        }
        return piece instanceof LentBuffer lent ? lent.memory() : null;
    }

    boolean isFollowedByFile() {
        return count > 1 && at(1) instanceof FilePart part && part.left() > 0;
    }

    void consumed(long bytes) {
        marked = Math.max(0, marked - bytes);
        FilePart file = filePart();
        if (file != null) {
            file.sent(bytes);
            fileBytes -= bytes;
            if (file.left() == 0) {
                removeFile();
                file.outcome.resolve(file.sent);
            }
            return;
        }
        memoryBytes -= bytes;
        dropEmptied();
    }

    /// Removes the file range at the head, whose file was shorter than requested.
    void endFile() {
        FilePart file = filePart();
        if (file != null) {
            fileBytes -= file.left();
            marked = Math.max(0, marked - file.left());
            removeFile();
            file.outcome.resolve(file.sent);
        }
    }

    private void removeFile() {
        remove();
        fileParts--;
    }

    private void dropEmptied() {
        for (NativeBuffer first = memory(0);
                first != null && first.readableBytes() == 0;
                first = memory(0)) {
            release(remove());
        }
    }

    /// @param cause rejects the promises of the file ranges
    void clear(Throwable cause) {
        while (count > 0) {
            Object piece = remove();
            if (piece instanceof FilePart file) {
                file.outcome.reject(cause);
            } else {
                release(piece);
            }
        }
        memoryBytes = 0;
        fileBytes = 0;
        fileParts = 0;
        marked = 0;
        pieces = NONE;
        head = 0;
    }

    /// Copies all memory out of the loop's pool before a move, and returns lent buffers.
    void detachMemory(LoopOperations from) {
        for (int i = 0; i < count; i++) {
            if (at(i) instanceof FilePart file) {
                file.outcome.leave(from);
            } else {
                NativeBuffer memory = Objects.requireNonNull(memory(i));
                memory.endLoan();
                NativeBuffer copy = StreamMove.copyOf(memory);
                release(at(i));
                pieces[(head + i) & (pieces.length - 1)] = copy;
            }
        }
    }

    /// Copies all memory into the pool of another loop after a move.
    ///
    /// @return false if that pool is exhausted
    boolean attachMemory(BufferPool to) {
        pool = to;
        for (int i = 0; i < count; i++) {
            if (at(i) instanceof NativeBuffer copy && copy.readable() > 0) {
                NativeBuffer pooled = to.acquire(copy.readable());
                if (pooled == null) {
                    return false;
                }
                int _ = pooled.transferFrom(copy, copy.readable());
                pieces[(head + i) & (pieces.length - 1)] = pooled;
            }
        }
        return true;
    }

    private static void release(Object memory) {
        // A switch over types makes the JDK generate a class at startup, before the first response.
        if (memory instanceof LentBuffer lent) {
            lent.giveBack();
        } else {
            ((NativeBuffer) memory).release();
        }
    }

    private Object at(int place) {
        Object piece = pieces[(head + place) & (pieces.length - 1)];
        assert piece != null : "an empty slot in the queue";
        return piece;
    }

    private void add(Object piece) {
        if (count == pieces.length) {
            grow();
        }
        pieces[(head + count++) & (pieces.length - 1)] = piece;
    }

    private Object remove() {
        Object piece = at(0);
        pieces[head] = null;
        head = (head + 1) & (pieces.length - 1);
        count--;
        if (count == 0 && pieces.length > MAX_IDLE_PIECES) {
            pieces = NONE; // Do not keep a ring sized for one slow peer.
            head = 0;
        }
        return piece;
    }

    private void grow() {
        @Nullable Object[] larger = new @Nullable Object[Math.max(2, pieces.length * 2)];
        for (int i = 0; i < count; i++) {
            larger[i] = at(i);
        }
        pieces = larger;
        head = 0;
    }
}
