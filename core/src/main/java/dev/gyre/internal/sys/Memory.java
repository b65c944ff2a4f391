package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Raw memory by address, without a bounds check: one constant segment over the whole address space,
/// which the JIT reduces to plain loads and stores. Whoever uses it owns the memory and checks at its own
/// edges.
public final class Memory {
    @SuppressWarnings("restricted") // this room's purpose
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Memory() {}

    /// Zeroed memory, aligned to eight bytes, that lives as long as the returned segment is reachable:
    /// keep it in a field for as long as its address is in use.
    public static MemorySegment allocate(long sizeBytes) {
        return Arena.ofAuto().allocate(sizeBytes, Long.BYTES);
    }

    public static short getShort(long address) {
        return ALL.get(JAVA_SHORT_UNALIGNED, address);
    }

    public static int getInt(long address) {
        return ALL.get(JAVA_INT_UNALIGNED, address);
    }

    public static long getLong(long address) {
        return ALL.get(JAVA_LONG_UNALIGNED, address);
    }

    public static void putShort(long address, short value) {
        ALL.set(JAVA_SHORT_UNALIGNED, address, value);
    }

    public static void putInt(long address, int value) {
        ALL.set(JAVA_INT_UNALIGNED, address, value);
    }

    public static void putLong(long address, long value) {
        ALL.set(JAVA_LONG_UNALIGNED, address, value);
    }

    /// Copies bytes from an address into an array.
    public static void getBytes(long address, byte[] into, int offset, int length) {
        MemorySegment.copy(ALL, JAVA_BYTE, address, into, offset, length);
    }

    /// Copies bytes of an array to an address.
    public static void putBytes(long address, byte[] from, int offset, int length) {
        MemorySegment.copy(from, offset, ALL, JAVA_BYTE, address, length);
    }
}
