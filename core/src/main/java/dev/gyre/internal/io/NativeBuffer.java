package dev.gyre.internal.io;

import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.Objects;

/// A buffer, and who has it.
public final class NativeBuffer implements Buffer {
    private static final int MOST_BYTES = 1 << 30;

    private static final String RELEASED = "nobody any more: it was released";
    private static final String GIVEN_BACK = "the loop again: it was released";
    private static final String KEPT =
            "the buffer that was kept: take slices of it after Receive.keep()";

    private final MemoryPiece piece;
    private final NativeBytes memory;
    private final int capacity;
    private final boolean slice;

    // One thread at a time.
    private int reading;
    private int writing;

    /// Nothing is put below this: it belongs to slices.
    private int floor;

    /// The operation that has it, or, in words, why it may not be used any more.
    private @Nullable Object holder;

    /// Whether it is lent for a callback only, and goes back by itself.
    private boolean borrowed;

    /// Of a slice that is borrowed: what it ends with.
    private @Nullable NativeBuffer borrowedFrom;

    /// Those that end with this one, chained by the next.
    private @Nullable NativeBuffer borrowedSlices;

    private @Nullable NativeBuffer nextBorrowed;

    NativeBuffer(MemoryPiece piece) {
        this(piece, piece.bytes, false);
    }

    private NativeBuffer(MemoryPiece piece, NativeBytes memory, boolean slice) {
        this.piece = piece;
        this.memory = memory;
        this.capacity = (int) memory.size();
        this.slice = slice;
    }

    public static NativeBuffer allocate(int capacity) {
        requireSize(capacity);
        return new NativeBuffer(new MemoryPiece(NativeBytes.allocate(capacity), null));
    }

    static void requireSize(int capacity) {
        if (capacity < 1 || capacity > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "a buffer has from 1 to " + MOST_BYTES + " bytes, not " + capacity);
        }
    }

    // ------------------------------------------------------------------ who has it

    /// Lends it to an operation. Its words are used in messages.
    public void lend(Object operation) {
        requireMine();
        if (borrowed) {
            throw new IllegalStateException(
                    "the buffer goes back to the loop when the callback returns: keep() it before"
                            + " giving it to "
                            + operation);
        }
        holder = operation;
    }

    /// Ends a loan, whoever had it.
    public void takeBack() {
        holder = null;
    }

    /// Makes it one that is new to whoever gets it.
    void reopen() {
        holder = null;
        borrowed = false;
        reading = 0;
        writing = 0;
        floor = 0;
    }

    /// Lends it for a callback.
    public void beginBorrowing() {
        holder = null;
        borrowed = true;
    }

    /// The callback is over: it and its slices are refused to whoever still has them.
    ///
    /// @param reason what follows "the buffer belongs to"
    public void endBorrowing(String reason) {
        borrowed = false;
        holder = reason;
        endSlices(reason);
    }

    /// It stays with the user after the callback.
    void keep() {
        borrowed = false;
        endSlices(KEPT);
    }

    private void endSlices(String reason) {
        for (NativeBuffer each = borrowedSlices; each != null; each = each.nextBorrowed) {
            each.borrowed = false;
            each.holder = reason;
        }
        borrowedSlices = null;
    }

    private void requireMine() {
        if (holder != null) {
            throw new IllegalStateException(
                    "the buffer belongs to "
                            + holder
                            + (holder instanceof String ? "" : ": wait until that gives it back"));
        }
    }

    // ------------------------------------------------------------------ for operations

    public long readingAddress() {
        return memory.address() + reading;
    }

    public long writingAddress() {
        return memory.address() + writing;
    }

    /// The kernel has put so many bytes.
    public void filled(long bytes) {
        writing += (int) bytes;
    }

    /// The kernel has taken so many bytes.
    public void emptied(long bytes) {
        reading += (int) bytes;
    }

    public int bytesToRead() {
        return writing - reading;
    }

    public int bytesToWrite() {
        return capacity - writing;
    }

    /// Takes bytes off another one.
    ///
    /// @param bytes at most what that has, and this has room for
    /// @return bytes
    public int takeFrom(NativeBuffer other, int bytes) {
        requireRoom(bytes);
        other.requireReadable(bytes);
        memory.put(writing, other.memory, other.reading, bytes);
        writing += bytes;
        other.reading += bytes;
        return bytes;
    }

    // ------------------------------------------------------------------ for users

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int readable() {
        requireMine();
        return writing - reading;
    }

    @Override
    public int writable() {
        requireMine();
        return capacity - writing;
    }

    @Override
    public Buffer put(byte value) {
        requireRoom(1);
        memory.put(writing++, value);
        return this;
    }

    @Override
    public Buffer put(byte[] bytes, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        requireRoom(length);
        memory.put(writing, bytes, offset, length);
        writing += length;
        return this;
    }

    @Override
    public Buffer put(ByteBuffer bytes) {
        int length = bytes.remaining();
        requireRoom(length);
        memory.put(writing, bytes);
        writing += length;
        return this;
    }

    @Override
    public Buffer put(Buffer other) {
        NativeBuffer from = (NativeBuffer) other;
        if (from == this) {
            throw new IllegalArgumentException("a buffer cannot be put into itself: " + this);
        }
        int length = from.readable();
        requireRoom(length);
        memory.put(writing, from.memory, from.reading, length);
        writing += length;
        from.reading = from.writing;
        return this;
    }

    @Override
    public Buffer putShort(short value) {
        requireRoom(Short.BYTES);
        memory.putShort(writing, value);
        writing += Short.BYTES;
        return this;
    }

    @Override
    public Buffer putInt(int value) {
        requireRoom(Integer.BYTES);
        memory.putInt(writing, value);
        writing += Integer.BYTES;
        return this;
    }

    @Override
    public Buffer putLong(long value) {
        requireRoom(Long.BYTES);
        memory.putLong(writing, value);
        writing += Long.BYTES;
        return this;
    }

    @Override
    public byte get() {
        requireReadable(1);
        return memory.get(reading++);
    }

    @Override
    public Buffer get(byte[] into) {
        requireReadable(into.length);
        memory.get(reading, into, 0, into.length);
        reading += into.length;
        return this;
    }

    @Override
    public short getShort() {
        requireReadable(Short.BYTES);
        reading += Short.BYTES;
        return memory.getShort(reading - Short.BYTES);
    }

    @Override
    public int getInt() {
        requireReadable(Integer.BYTES);
        reading += Integer.BYTES;
        return memory.getInt(reading - Integer.BYTES);
    }

    @Override
    public long getLong() {
        requireReadable(Long.BYTES);
        reading += Long.BYTES;
        return memory.getLong(reading - Long.BYTES);
    }

    @Override
    public byte peek(int offset) {
        requireMine();
        Objects.checkIndex(offset, writing - reading);
        return memory.get(reading + offset);
    }

    @Override
    public int indexOf(byte value) {
        requireMine();
        long found = memory.indexOf(value, reading, writing);
        return found < 0 ? -1 : (int) found - reading;
    }

    @Override
    public ByteBuffer asReadable() {
        return memory.view(reading, readable());
    }

    @Override
    public ByteBuffer asWritable() {
        return memory.view(writing, writable());
    }

    @Override
    public Buffer advance(int bytes) {
        requireRoom(bytes);
        writing += bytes;
        return this;
    }

    @Override
    public Buffer skip(int bytes) {
        requireReadable(bytes);
        reading += bytes;
        return this;
    }

    @Override
    public Buffer clear() {
        requireMine();
        reading = slice ? capacity : lowest();
        writing = reading;
        return this;
    }

    @Override
    public Buffer compact() {
        requireMine();
        if (!slice) {
            int readable = writing - reading;
            int to = lowest();
            memory.move(reading, to, readable);
            reading = to;
            writing = to + readable;
        }
        return this;
    }

    /// From where on the memory is this buffer's own.
    private int lowest() {
        if (floor > 0 && borrowedSlices == null && !piece.isShared()) {
            floor = 0; // The slices are gone.
        }
        return floor;
    }

    @Override
    public Buffer slice(int bytes) {
        requireReadable(bytes);
        NativeBuffer part = new NativeBuffer(piece, memory.part(reading, bytes), true);
        part.writing = bytes;
        if (borrowed) {
            NativeBuffer first = borrowedFrom == null ? this : borrowedFrom;
            part.borrowed = true;
            part.borrowedFrom = first;
            part.nextBorrowed = first.borrowedSlices;
            first.borrowedSlices = part;
        } else {
            piece.share();
        }
        reading += bytes;
        floor = reading;
        return part;
    }

    @Override
    public boolean isInFlight() {
        return holder != null && !(holder instanceof String);
    }

    @Override
    public void release() {
        if (!borrowed && (slice || piece.lender != null)) {
            requireMine();
            holder = piece.lender == null ? RELEASED : GIVEN_BACK;
            piece.leave();
        }
    }

    private void requireRoom(int bytes) {
        requireMine();
        if (bytes < 0 || bytes > capacity - writing) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes do not fit: the buffer has room for " + (capacity - writing));
        }
    }

    private void requireReadable(int bytes) {
        requireMine();
        if (bytes < 0 || bytes > writing - reading) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes cannot be taken: " + (writing - reading) + " are readable");
        }
    }

    @Override
    public String toString() {
        return "Buffer["
                + (writing - reading)
                + " readable, "
                + (capacity - writing)
                + " writable"
                + (holder == null ? "]" : ", with " + holder + "]");
    }
}
