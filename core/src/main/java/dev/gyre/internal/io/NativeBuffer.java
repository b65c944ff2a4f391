package dev.gyre.internal.io;

import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Objects;

/// A buffer, and who has it.
public final class NativeBuffer implements Buffer {
    private static final int MOST_BYTES = 1 << 30;

    private final NativeBytes memory;
    private final int capacity;
    private final @Nullable Lender lender;

    // One thread at a time.
    private int reading;
    private int writing;

    /// The operation that has it, or whoever else has taken it back.
    private @Nullable Object holder;

    /// Whether it is lent for a callback only, and goes back by itself.
    private boolean borrowed;

    /// Where a buffer goes when it is released.
    interface Lender {
        void takeBack(NativeBuffer buffer);
    }

    NativeBuffer(NativeBytes memory, @Nullable Lender lender) {
        this.memory = memory;
        this.capacity = (int) memory.size();
        this.lender = lender;
    }

    public static NativeBuffer allocate(int capacity) {
        if (capacity < 1 || capacity > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "a buffer has from 1 to " + MOST_BYTES + " bytes, not " + capacity);
        }
        return new NativeBuffer(NativeBytes.allocate(capacity), null);
    }

    // ------------------------------------------------------------------ for operations

    /// Lends it. The holder's words are used in messages.
    void lend(Object holder) {
        requireMine();
        if (borrowed) {
            throw new IllegalStateException(
                    "the buffer goes back to the loop when the callback returns: keep() it before"
                            + " giving it to "
                            + holder);
        }
        this.holder = holder;
    }

    /// Ends a loan, whoever had it.
    void takeBack() {
        holder = null;
    }

    void withhold(Object reason) {
        holder = reason;
    }

    void setBorrowed(boolean borrowed) {
        this.borrowed = borrowed;
    }

    long readingAddress() {
        return memory.address() + reading;
    }

    long writingAddress() {
        return memory.address() + writing;
    }

    /// The kernel has put so many bytes.
    void filled(long bytes) {
        writing += (int) bytes;
    }

    /// The kernel has taken so many bytes.
    void emptied(long bytes) {
        reading += (int) bytes;
    }

    int bytesToRead() {
        return writing - reading;
    }

    int bytesToWrite() {
        return capacity - writing;
    }

    private void requireMine() {
        if (holder != null) {
            throw new IllegalStateException(
                    "the buffer belongs to " + holder + ": wait until that gives it back");
        }
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
    public Buffer put(byte[] bytes) {
        return put(bytes, 0, bytes.length);
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
    public byte peek(int offset) {
        requireMine();
        Objects.checkIndex(offset, writing - reading);
        return memory.get(reading + offset);
    }

    @Override
    public String getText(Charset charset) {
        byte[] bytes = new byte[readable()];
        get(bytes);
        return new String(bytes, charset);
    }

    @Override
    public ByteBuffer asReadable() {
        return memory.view(reading, readable());
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
        reading = 0;
        writing = 0;
        return this;
    }

    @Override
    public Buffer compact() {
        int readable = readable();
        memory.move(reading, 0, readable);
        reading = 0;
        writing = readable;
        return this;
    }

    @Override
    public boolean isInFlight() {
        return holder != null;
    }

    @Override
    public void release() {
        if (lender != null && !borrowed) {
            requireMine();
            lender.takeBack(this);
        }
    }

    private void requireRoom(int bytes) {
        requireMine();
        if (bytes > capacity - writing) {
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
