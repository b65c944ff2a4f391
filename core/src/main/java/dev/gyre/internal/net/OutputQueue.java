package dev.gyre.internal.net;

import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/// What waits to be sent, in order: bytes in pooled memory, memory that was lent, parts of files. Small writes fill up
/// the last piece of memory, so that many of them leave as one; an empty queue holds no memory.
///
/// Loop thread only.
final class OutputQueue {
    /// Pieces of this size for small writes, and of the larger one for what does not fit.
    private static final int SMALL = 4 << 10;

    private static final int LARGE = 16 << 10;

    /// What a part of a file counts as, however long it is: about what it takes of the heap.
    static final int FILE_PART_BYTES = 256;

    private static final Object[] NONE = {};
    private static final int MOST_IDLE_PIECES = 16;

    private final BufferPool pool;

    /// A ring of pieces: [NativeBuffer] for memory of the pool, [BorrowedMemory], [FilePart].
    private @Nullable Object[] pieces = NONE;

    private int head;
    private int count;
    private long memoryBytes;
    private long fileBytes;
    private int fileParts;

    /// How much of what was there at [#mark()] still waits.
    private long marked;

    OutputQueue(BufferPool pool) {
        this.pool = pool;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /// What waits in memory.
    long memoryBytes() {
        return memoryBytes;
    }

    /// What waits in memory, and what the parts of files take up that wait.
    long heldBytes() {
        return memoryBytes + (long) fileParts * FILE_PART_BYTES;
    }

    /// What waits in all.
    long bytes() {
        return memoryBytes + fileBytes;
    }

    /// Remembers where the queue ends just now.
    void mark() {
        marked = bytes();
    }

    /// How much still waits in front of the mark; without one, nothing does.
    long bytesBeforeMark() {
        return marked;
    }

    // ------------------------------------------------------------------ putting

    /// Copies all of it.
    ///
    /// @return false if the pool has no memory left, in which case a part may have been put
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

    void put(BorrowedMemory lent) {
        memoryBytes += lent.bytes();
        add(lent);
    }

    void put(FilePart part) {
        fileBytes += part.left();
        fileParts++;
        add(part);
    }

    /// Memory that is ready to be sent and belongs to the queue from now on.
    void hand(NativeBuffer filled) {
        memoryBytes += filled.readable();
        add(filled);
    }

    /// The last piece if it can still be filled, or a new one.
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

    // ------------------------------------------------------------------ taking

    /// The part of a file that is next; null if memory is.
    @Nullable FilePart filePart() {
        return count > 0 && at(0) instanceof FilePart part ? part : null;
    }

    /// The memory at a place of the queue; null where it ends, or a file begins.
    @Nullable NativeBuffer memory(int place) {
        if (place >= count) {
            return null;
        }
        Object piece = at(place);
        if (piece instanceof NativeBuffer own) {
            return own;
        }
        return piece instanceof BorrowedMemory lent ? lent.memory() : null;
    }

    /// Whether something of a file comes after the first piece, which is memory.
    boolean isFollowedByFile() {
        return count > 1 && at(1) instanceof FilePart part && part.left() > 0;
    }

    /// So many bytes of the first pieces are gone: lets go of those that are through.
    void taken(long bytes) {
        marked = Math.max(0, marked - bytes);
        FilePart file = filePart();
        if (file != null) {
            file.sent(bytes);
            fileBytes -= bytes;
            if (file.left() == 0) {
                removeFile();
                file.settle();
            }
            return;
        }
        memoryBytes -= bytes;
        dropEmptied();
    }

    /// The file at the head ended before all of it was sent.
    void endFile() {
        FilePart file = filePart();
        if (file != null) {
            fileBytes -= file.left();
            marked = Math.max(0, marked - file.left());
            removeFile();
            file.settle();
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
            letGo(remove(), null);
        }
    }

    /// Drops everything.
    ///
    /// @param cause what the files that were not sent are told
    void clear(Throwable cause) {
        while (count > 0) {
            letGo(remove(), cause);
        }
        memoryBytes = 0;
        fileBytes = 0;
        fileParts = 0;
        marked = 0;
        pieces = NONE;
        head = 0;
    }

    private static void letGo(Object piece, @Nullable Throwable cause) {
        // No switch over types, for which the JDK makes a class at every start: this is part of the
        // first answer.
        if (piece instanceof NativeBuffer own) {
            own.release();
        } else if (piece instanceof BorrowedMemory lent) {
            lent.giveBack();
        } else if (piece instanceof FilePart file) {
            file.fail(cause);
        } else {
            throw new AssertionError(piece);
        }
    }

    // ------------------------------------------------------------------ the ring

    private Object at(int place) {
        Object piece = pieces[(head + place) & (pieces.length - 1)];
        assert piece != null : "an empty place in the queue";
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
        if (count == 0 && pieces.length > MOST_IDLE_PIECES) {
            pieces = NONE; // The backlog of a slow peer is not the measure of all time.
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
