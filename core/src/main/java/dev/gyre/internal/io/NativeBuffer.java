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

/// A buffer and its current owner: the user, an operation, or the loop.
public final class NativeBuffer implements Buffer {
    private static final NativeBytes EMPTY_MEMORY = NativeBytes.allocate(Long.BYTES).part(0, 0);

    private static final String RELEASED = "no owner: it was released";
    private static final String RETURNED = "the loop again: it was released";
    private static final String KEPT = "the buffer that was kept: slice it after keep()";

    private final RefCountedMemory refCounted;
    private final NativeBytes memory;
    private final int capacity;
    private final boolean slice;

    // One thread at a time, chosen by the user.
    private int readIndex;
    private int writeIndex;
    private int mark = -1; // absent

    /// The lower bound of the write index: slices use the memory below.
    private int floor;

    /// The operation that owns the buffer, or a String that says why it is unusable; null if the
    /// user owns it.
    private @Nullable Object holder;

    /// Whether the buffer is valid during a callback only.
    private boolean borrowed;

    /// The slices that end with the callback, shared by the buffer and its slices.
    private @Nullable List<NativeBuffer> borrowedSlices;

    /// Where the buffer was acquired, if leaks are detected.
    @Nullable Trace trace;

    NativeBuffer(RefCountedMemory refCounted) {
        this(refCounted, refCounted.bytes, false);
    }

    private NativeBuffer(RefCountedMemory refCounted, NativeBytes memory, boolean slice) {
        this.refCounted = refCounted;
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

    /// Lends the buffer to an operation, which messages name by its `toString`.
    public void lendTo(Object operation) {
        requireAccess();
        if (borrowed) {
            throw new IllegalStateException(
                    "the buffer returns to the loop after the callback: keep() it before"
                            + " passing it to "
                            + operation);
        }
        holder = operation;
    }

    public void endLoan() {
        holder = null;
    }

    void recycle() {
        holder = null;
        borrowed = false;
        mark = -1;
        readIndex = 0;
        writeIndex = 0;
        floor = 0;
    }

    /// Lends the buffer to the user for a callback.
    public void beginBorrowing() {
        holder = null;
        borrowed = true;
    }

    /// Ends a loan for a callback. Later uses of the buffer and its slices throw.
    ///
    /// @param reason completes the message "the buffer belongs to"
    public void endBorrowing(String reason) {
        borrowed = false;
        holder = reason;
        endSlices(reason);
    }

    /// Returns a view of the readable bytes for one callback. Later uses of the view throw, even if
    /// the memory is reused.
    public NativeBuffer lendView() {
        NativeBuffer view = new NativeBuffer(refCounted, memory, false);
        view.readIndex = readIndex;
        view.writeIndex = writeIndex;
        view.floor = readIndex;
        view.borrowed = true;
        return view;
    }

    /// Ends a view of this buffer, and adopts its indexes.
    public void endView(NativeBuffer view, String reason) {
        readIndex = view.readIndex;
        writeIndex = view.writeIndex;
        view.endBorrowing(reason);
    }

    /// Leaves the buffer to the user after the callback.
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

    private void requireAccess() {
        if (holder != null) {
            throw new IllegalStateException(
                    "the buffer belongs to "
                            + holder
                            + (holder instanceof String ? "" : ": wait for its completion"));
        }
    }

    public long readAddress() {
        return memory.address() + readIndex;
    }

    public long writeAddress() {
        return memory.address() + writeIndex;
    }

    public void advanceWriteIndex(long bytes) {
        writeIndex += (int) bytes;
    }

    public void advanceReadIndex(long bytes) {
        readIndex += (int) bytes;
    }

    public int readableBytes() {
        return writeIndex - readIndex;
    }

    public int writableBytes() {
        return capacity - writeIndex;
    }

    /// Moves bytes, at most the readable ones of the other buffer and the writable ones of this.
    public int transferFrom(NativeBuffer other, int bytes) {
        int to = reserve(bytes); // First: consumes nothing if full.
        memory.put(to, other.memory, other.consume(bytes), bytes);
        return bytes;
    }

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
            throw new IllegalArgumentException("cannot put a buffer into itself: " + this);
        }
        int _ = transferFrom(from, from.readable());
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
    public int indexOf(byte value, int from) {
        requireAccess();
        Objects.checkIndex(from, writeIndex - readIndex + 1);
        long found = memory.indexOf(value, readIndex + from, writeIndex);
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
    public Buffer mark() {
        requireAccess();
        mark = readIndex;
        return this;
    }

    @Override
    public Buffer reset() {
        requireAccess();
        if (mark < 0) {
            throw new IllegalStateException(
                    "no mark: call mark() before, and again after clear() or compact()");
        }
        readIndex = mark;
        return this;
    }

    @Override
    public Buffer clear() {
        requireAccess();
        mark = -1;
        readIndex = slice ? capacity : lowest();
        writeIndex = readIndex;
        return this;
    }

    @Override
    public Buffer compact() {
        requireAccess();
        mark = -1;
        if (!slice) {
            int readable = writeIndex - readIndex;
            int to = lowest();
            memory.move(readIndex, to, readable);
            readIndex = to;
            writeIndex = to + readable;
        }
        return this;
    }

    /// Returns the lowest index that no slice uses.
    private int lowest() {
        if (floor > 0 && borrowedSlices == null && !refCounted.isShared()) {
            floor = 0; // All slices are released.
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

    /// Advances the write index, and returns the previous one.
    private int reserve(int bytes) {
        requireAccess();
        int at = writeIndex;
        if (bytes < 0 || bytes > capacity - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes do not fit: " + (capacity - at) + " are writable");
        }
        writeIndex = at + bytes;
        return at;
    }

    /// Advances the read index, and returns the previous one.
    private int consume(int bytes) {
        requireAccess();
        int at = readIndex;
        if (bytes < 0 || bytes > writeIndex - at) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes cannot be read: " + (writeIndex - at) + " are readable");
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
