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
    private static final NativeBytes EMPTY_MEMORY = NativeBytes.allocate(Long.BYTES).part(0, 0);

    private static final String RELEASED = "nobody any more: it was released";
    private static final String RETURNED = "the loop again: it was released";
    private static final String KEPT = "the buffer that was kept: slice it after keep()";

    private final RefCountedMemory refCounted;
    private final NativeBytes memory;
    private final int capacity;
    private final boolean slice;

    // One thread at a time.
    private int readIndex;
    private int writeIndex;

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
        this.refCounted = piece;
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
        return new NativeBuffer(new RefCountedMemory(EMPTY_MEMORY, null));
    }

    // ------------------------------------------------------------------ who has it

    /// Lends it to an operation. Its words are used in messages.
    public void lendTo(Object operation) {
        requireAccess();
        if (borrowed) {
            throw new IllegalStateException(
                    "the buffer goes back to the loop when the callback returns: keep() it before"
                            + " giving it to "
                            + operation);
        }
        holder = operation;
    }

    /// Ends a loan, whoever had it.
    public void endLoan() {
        holder = null;
    }

    /// Makes it one that is new to whoever gets it.
    void reset() {
        holder = null;
        borrowed = false;
        readIndex = 0;
        writeIndex = 0;
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
        NativeBuffer view = new NativeBuffer(refCounted, memory, false);
        view.readIndex = readIndex;
        view.writeIndex = writeIndex;
        view.floor = readIndex;
        view.borrowed = true;
        return view;
    }

    /// Ends a view of this, and takes over how far it was read.
    ///
    /// @param reason what follows "the buffer belongs to"
    public void endView(NativeBuffer view, String reason) {
        readIndex = view.readIndex;
        writeIndex = view.writeIndex;
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

    private void requireAccess() {
        if (holder != null) {
            throw new IllegalStateException(
                    "the buffer belongs to "
                            + holder
                            + (holder instanceof String ? "" : ": wait until that gives it back"));
        }
    }

    // ------------------------------------------------------------------ for operations

    public long readAddress() {
        return memory.address() + readIndex;
    }

    public long writeAddress() {
        return memory.address() + writeIndex;
    }

    /// The kernel has put so many bytes.
    public void advanceWriteIndex(long bytes) {
        writeIndex += (int) bytes;
    }

    /// The kernel has taken so many bytes.
    public void advanceReadIndex(long bytes) {
        readIndex += (int) bytes;
    }

    public int readableBytes() {
        return writeIndex - readIndex;
    }

    public int writableBytes() {
        return capacity - writeIndex;
    }

    /// Takes bytes off another one.
    ///
    /// @param bytes at most what that has, and this has room for
    /// @return bytes
    public int transferFrom(NativeBuffer other, int bytes) {
        int to = reserve(bytes); // First: if there is no room, nothing is taken.
        memory.put(to, other.memory, other.consume(bytes), bytes);
        return bytes;
    }

    // ------------------------------------------------------------------ for users

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int readable() {
        requireAccess();
        return writeIndex - readIndex;
    }

    @Override
    public int writable() {
        requireAccess();
        return capacity - writeIndex;
    }

    @Override
    public Buffer put(byte value) {
        memory.put(reserve(1), value);
        return this;
    }

    @Override
    public Buffer put(byte[] bytes, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        memory.put(reserve(length), bytes, offset, length);
        return this;
    }

    @Override
    public Buffer put(String text) {
        int length = text.length();
        if (length > writable() || !memory.putAscii(writeIndex, text)) {
            return put(text.getBytes(UTF_8));
        }
        return advance(length);
    }

    @Override
    public Buffer put(ByteBuffer bytes) {
        memory.put(reserve(bytes.remaining()), bytes);
        return this;
    }

    @Override
    public Buffer put(Buffer other) {
        NativeBuffer from = (NativeBuffer) other;
        if (from == this) {
            throw new IllegalArgumentException("a buffer cannot be put into itself: " + this);
        }
        int length = from.readable();
        memory.put(reserve(length), from.memory, from.readIndex, length);
        from.readIndex = from.writeIndex;
        return this;
    }

    @Override
    public Buffer putShort(short value) {
        memory.putShort(reserve(Short.BYTES), value);
        return this;
    }

    @Override
    public Buffer putInt(int value) {
        memory.putInt(reserve(Integer.BYTES), value);
        return this;
    }

    @Override
    public Buffer putLong(long value) {
        memory.putLong(reserve(Long.BYTES), value);
        return this;
    }

    @Override
    public byte get() {
        return memory.get(consume(1));
    }

    @Override
    public Buffer get(byte[] into, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, into.length);
        memory.get(consume(length), into, offset, length);
        return this;
    }

    @Override
    public short getShort() {
        return memory.getShort(consume(Short.BYTES));
    }

    @Override
    public int getInt() {
        return memory.getInt(consume(Integer.BYTES));
    }

    @Override
    public long getLong() {
        return memory.getLong(consume(Long.BYTES));
    }

    @Override
    public byte peek(int offset) {
        requireAccess();
        Objects.checkIndex(offset, writeIndex - readIndex);
        return memory.get(readIndex + offset);
    }

    @Override
    public long peekLong(int offset) {
        requireAccess();
        Objects.checkFromIndexSize(offset, Long.BYTES, writeIndex - readIndex);
        return memory.getLong(readIndex + offset);
    }

    @Override
    public int indexOf(byte value) {
        requireAccess();
        long found = memory.indexOf(value, readIndex, writeIndex);
        return found < 0 ? -1 : (int) found - readIndex;
    }

    @Override
    public ByteBuffer asReadable() {
        return memory.view(readIndex, readable());
    }

    @Override
    public ByteBuffer asWritable() {
        return memory.view(writeIndex, writable());
    }

    @Override
    public Buffer advance(int bytes) {
        int _ = reserve(bytes);
        return this;
    }

    @Override
    public Buffer skip(int bytes) {
        int _ = consume(bytes);
        return this;
    }

    @Override
    public Buffer clear() {
        requireAccess();
        readIndex = slice ? capacity : lowest();
        writeIndex = readIndex;
        return this;
    }

    @Override
    public Buffer compact() {
        requireAccess();
        if (!slice) {
            int readable = writeIndex - readIndex;
            int to = lowest();
            memory.move(readIndex, to, readable);
            readIndex = to;
            writeIndex = to + readable;
        }
        return this;
    }

    /// From where on the memory is this buffer's own.
    private int lowest() {
        if (floor > 0 && borrowedSlices == null && !refCounted.isShared()) {
            floor = 0; // The slices are gone.
        }
        return floor;
    }

    @Override
    public Buffer slice(int bytes) {
        NativeBuffer part = new NativeBuffer(refCounted, memory.part(consume(bytes), bytes), true);
        part.writeIndex = bytes;
        if (borrowed) {
            borrowedSlices = borrowedSlices == null ? new ArrayList<>() : borrowedSlices;
            borrowedSlices.add(part);
            part.borrowedSlices = borrowedSlices;
            part.borrowed = true;
        } else {
            refCounted.retain();
            part.trace = trace == null ? null : trace.ofSlice(part);
        }
        floor = readIndex;
        return part;
    }

    @Override
    public boolean isInFlight() {
        return holder != null && !(holder instanceof String);
    }

    @Override
    public void release() {
        if (!borrowed && (slice || refCounted.owner != null)) {
            requireAccess();
            StackReserve.requireLarge();
            holder = refCounted.owner == null ? RELEASED : RETURNED;
            if (trace != null) {
                trace.released();
                trace = null;
            }
            refCounted.release();
        }
    }

    /// Moves the writing position, and says where it was.
    private int reserve(int bytes) {
        requireAccess();
        int at = writeIndex;
        if (bytes < 0 || bytes > capacity - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes do not fit: the buffer has room for " + (capacity - at));
        }
        writeIndex = at + bytes;
        return at;
    }

    /// Moves the reading position, and says where it was.
    private int consume(int bytes) {
        requireAccess();
        int at = readIndex;
        if (bytes < 0 || bytes > writeIndex - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes cannot be taken: " + (writeIndex - at) + " are readable");
        }
        readIndex = at + bytes;
        return at;
    }

    @Override
    public String toString() {
        return "Buffer["
                + (writeIndex - readIndex)
                + " readable, "
                + (capacity - writeIndex)
                + " writable"
                + (holder == null ? "]" : ", with " + holder + "]");
    }
}
