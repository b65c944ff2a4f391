package dev.gyre.internal.io;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.io.BufferLeaks.Trace;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// A buffer, and who has it.
public final class NativeBuffer implements Buffer {
    private static final NativeBytes NOTHING = NativeBytes.allocate(Long.BYTES).part(0, 0);

    private static final String RELEASED = "nobody any more: it was released";
    private static final String GIVEN_BACK = "the loop again: it was released";
    private static final String KEPT = "the buffer that was kept: slice it after keep()";

    private final RefCountedMemory piece;
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

    /// The slices that were taken of it meanwhile; of a slice, all that end with it.
    private @Nullable List<NativeBuffer> borrowedSlices;

    /// Where it was taken, if that is wanted to be known.
    private @Nullable Trace trace;

    NativeBuffer(RefCountedMemory piece) {
        this(piece, piece.bytes, false);
    }

    private NativeBuffer(RefCountedMemory piece, NativeBytes memory, boolean slice) {
        this.piece = piece;
        this.memory = memory;
        this.capacity = (int) memory.size();
        this.slice = slice;
    }

    public static NativeBuffer allocate(int capacity) {
        RefCountedMemory.requireSize(capacity);
        return new NativeBuffer(new RefCountedMemory(NativeBytes.allocate(capacity), null));
    }

    /// Returns a buffer of capacity zero, without memory.
    public static NativeBuffer empty() {
        return new NativeBuffer(new RefCountedMemory(NOTHING, null));
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

    /// The same bytes for one callback, as a buffer of its own: who still has it after that is refused, even when the
    /// memory has long become somebody else's.
    public NativeBuffer lendView() {
        NativeBuffer view = new NativeBuffer(piece, memory, false);
        view.reading = reading;
        view.writing = writing;
        view.floor = reading;
        view.borrowed = true;
        return view;
    }

    /// Ends a view of this, and takes over how far it was read.
    ///
    /// @param reason what follows "the buffer belongs to"
    public void adopt(NativeBuffer view, String reason) {
        reading = view.reading;
        writing = view.writing;
        view.endBorrowing(reason);
    }

    /// It stays with the user after the callback.
    void keep() {
        borrowed = false;
        endSlices(KEPT);
    }

    private void endSlices(String reason) {
        List<NativeBuffer> ended = borrowedSlices;
        borrowedSlices = null;
        if (ended != null) {
            for (NativeBuffer slice : ended) {
                slice.borrowed = false;
                slice.holder = reason;
                slice.borrowedSlices = null;
            }
        }
    }

    void trace(Trace trace) {
        this.trace = trace;
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
        int to = added(bytes); // First: if there is no room, nothing is taken.
        memory.put(to, other.memory, other.taken(bytes), bytes);
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
        memory.put(added(1), value);
        return this;
    }

    @Override
    public Buffer put(byte[] bytes, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        memory.put(added(length), bytes, offset, length);
        return this;
    }

    @Override
    public Buffer put(String text) {
        int length = text.length();
        if (length > writable() || !memory.putAscii(writing, text)) {
            return put(text.getBytes(UTF_8));
        }
        return advance(length);
    }

    @Override
    public Buffer put(ByteBuffer bytes) {
        memory.put(added(bytes.remaining()), bytes);
        return this;
    }

    @Override
    public Buffer put(Buffer other) {
        NativeBuffer from = (NativeBuffer) other;
        if (from == this) {
            throw new IllegalArgumentException("a buffer cannot be put into itself: " + this);
        }
        int length = from.readable();
        memory.put(added(length), from.memory, from.reading, length);
        from.reading = from.writing;
        return this;
    }

    @Override
    public Buffer putShort(short value) {
        memory.putShort(added(Short.BYTES), value);
        return this;
    }

    @Override
    public Buffer putInt(int value) {
        memory.putInt(added(Integer.BYTES), value);
        return this;
    }

    @Override
    public Buffer putLong(long value) {
        memory.putLong(added(Long.BYTES), value);
        return this;
    }

    @Override
    public byte get() {
        return memory.get(taken(1));
    }

    @Override
    public Buffer get(byte[] into, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, into.length);
        memory.get(taken(length), into, offset, length);
        return this;
    }

    @Override
    public short getShort() {
        return memory.getShort(taken(Short.BYTES));
    }

    @Override
    public int getInt() {
        return memory.getInt(taken(Integer.BYTES));
    }

    @Override
    public long getLong() {
        return memory.getLong(taken(Long.BYTES));
    }

    @Override
    public byte peek(int offset) {
        requireMine();
        Objects.checkIndex(offset, writing - reading);
        return memory.get(reading + offset);
    }

    @Override
    public long peekLong(int offset) {
        requireMine();
        Objects.checkFromIndexSize(offset, Long.BYTES, writing - reading);
        return memory.getLong(reading + offset);
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
        int _ = added(bytes);
        return this;
    }

    @Override
    public Buffer skip(int bytes) {
        int _ = taken(bytes);
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
        NativeBuffer part = new NativeBuffer(piece, memory.part(taken(bytes), bytes), true);
        part.writing = bytes;
        if (borrowed) {
            borrowedSlices = borrowedSlices == null ? new ArrayList<>() : borrowedSlices;
            borrowedSlices.add(part);
            part.borrowedSlices = borrowedSlices;
            part.borrowed = true;
        } else {
            piece.share();
            part.trace = trace == null ? null : trace.ofSlice(part);
        }
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
            StackReserve.requireLarge();
            holder = piece.lender == null ? RELEASED : GIVEN_BACK;
            if (trace != null) {
                trace.released();
                trace = null;
            }
            piece.leave();
        }
    }

    /// Moves the writing position, and says where it was.
    private int added(int bytes) {
        requireMine();
        int at = writing;
        if (bytes < 0 || bytes > capacity - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes do not fit: the buffer has room for " + (capacity - at));
        }
        writing = at + bytes;
        return at;
    }

    /// Moves the reading position, and says where it was.
    private int taken(int bytes) {
        requireMine();
        int at = reading;
        if (bytes < 0 || bytes > writing - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes cannot be taken: " + (writing - at) + " are readable");
        }
        reading = at + bytes;
        return at;
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
