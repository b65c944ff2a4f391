package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Native memory with bounds-checked access and an address for the kernel. It lives as long as this
/// object is reachable.
public final class NativeBytes {
    // In network byte order.
    private static final ValueLayout.OfShort SHORT =
            JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG =
            JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /// Eight bytes, the first one in the lowest bits.
    private static final ValueLayout.OfLong WORD =
            JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private final MemorySegment memory;
    private final long address;

    public NativeBytes(MemorySegment memory) {
        this.memory = memory;
        this.address = memory.address();
    }

    public static NativeBytes allocate(long size) {
        return new NativeBytes(Memory.allocate(size));
    }

    public long address() {
        return address;
    }

    public long size() {
        return memory.byteSize();
    }

    /// Returns a part, which keeps the whole memory alive.
    public NativeBytes part(long at, long length) {
        return new NativeBytes(memory.asSlice(at, length));
    }

    public byte get(long at) {
        return memory.get(JAVA_BYTE, at);
    }

    public void put(long at, byte value) {
        memory.set(JAVA_BYTE, at, value);
    }

    public void get(long at, byte[] into, int offset, int length) {
        MemorySegment.copy(memory, JAVA_BYTE, at, into, offset, length);
    }

    public void put(long at, byte[] from, int offset, int length) {
        MemorySegment.copy(from, offset, memory, JAVA_BYTE, at, length);
    }

    /// Writes the characters of a text as one byte each. The caller checks the space.
    ///
    /// @return whether the text is ASCII; if not, a part of it was written
    public boolean putAscii(long at, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > 0x7f) {
                return false;
            }
            memory.set(JAVA_BYTE, at + i, (byte) c);
        }
        return true;
    }

    public void put(long at, ByteBuffer from) {
        int length = from.remaining();
        MemorySegment.copy(MemorySegment.ofBuffer(from), 0, memory, at, length);
        from.position(from.position() + length);
    }

    public void put(long at, NativeBytes from, long fromAt, long length) {
        MemorySegment.copy(from.memory, fromAt, memory, at, length);
    }

    public short getShort(long at) {
        return memory.get(SHORT, at);
    }

    public int getInt(long at) {
        return memory.get(INT, at);
    }

    public long getLong(long at) {
        return memory.get(LONG, at);
    }

    public void putShort(long at, short value) {
        memory.set(SHORT, at, value);
    }

    public void putInt(long at, int value) {
        memory.set(INT, at, value);
    }

    public void putLong(long at, long value) {
        memory.set(LONG, at, value);
    }

    /// Searches for a byte, eight at a time.
    ///
    /// @return the first index, or -1
    public long indexOf(byte value, long from, long to) {
        long pattern = (value & 0xff) * ONES;
        long at = from;
        for (; at <= to - Long.BYTES; at += Long.BYTES) {
            long zeroWhereEqual = memory.get(WORD, at) ^ pattern;
            // The lowest set bit marks the first zero byte; higher ones may be false.
            long found = (zeroWhereEqual - ONES) & ~zeroWhereEqual & HIGH_BITS;
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
        }
        for (; at < to; at++) {
            if (memory.get(JAVA_BYTE, at) == value) {
                return at;
            }
        }
        return -1;
    }

    /// Moves bytes within the memory; the ranges may overlap.
    public void move(long from, long to, long length) {
        MemorySegment.copy(memory, from, memory, to, length);
    }

    public ByteBuffer view(long at, long length) {
        return memory.asSlice(at, length).asByteBuffer();
    }
}
