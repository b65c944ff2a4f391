package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// Raw memory by address, without a bounds check. It is one constant segment over the whole address
/// space, which the JIT reduces to plain loads and stores. The caller owns the memory and checks
/// its bounds.
public final class Memory {
    @SuppressWarnings("restricted") // the purpose of this package
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private static final int LARGE_BYTES = 1_024;
    private static final int CACHE_LINE_BYTES = 64;

    private static final VarHandle SHARED_INT = JAVA_INT.varHandle();
    private static final VarHandle SHARED_SHORT = JAVA_SHORT.varHandle();

    private Memory() {}

    /// Allocates zeroed memory, aligned to at least eight bytes. It lives as long as the returned
    /// segment is reachable: keep that in a field while the address is in use.
    public static MemorySegment allocate(long sizeBytes) {
        // The kernel copies with one instruction, which is three times slower into memory that does
        // not begin at a cache line (AMD Zen 3, Linux 6.18: 16 KiB, 16 modulo 64).
        long alignment = sizeBytes < LARGE_BYTES ? Long.BYTES : CACHE_LINE_BYTES;
        return Arena.ofAuto().allocate(sizeBytes, alignment);
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

    /// Loads an int with acquire semantics from an aligned address that, for example, the kernel
    /// stores to.
    public static int getIntAcquire(long address) {
        return (int) SHARED_INT.getAcquire(ALL, address);
    }

    /// Stores an int with release semantics: earlier stores are visible to the reader that acquires
    /// this aligned address.
    public static void putIntRelease(long address, int value) {
        SHARED_INT.setRelease(ALL, address, value);
    }

    /// Stores a short like [#putIntRelease].
    public static void putShortRelease(long address, int value) {
        SHARED_SHORT.setRelease(ALL, address, (short) value);
    }

    public static int getByte(long address) {
        return ALL.get(JAVA_BYTE, address);
    }

    public static void putByte(long address, int value) {
        ALL.set(JAVA_BYTE, address, (byte) value);
    }

    public static void putShort(long address, int value) {
        ALL.set(JAVA_SHORT_UNALIGNED, address, (short) value);
    }

    public static void putInt(long address, int value) {
        ALL.set(JAVA_INT_UNALIGNED, address, value);
    }

    public static void putLong(long address, long value) {
        ALL.set(JAVA_LONG_UNALIGNED, address, value);
    }

    public static void getBytes(long address, byte[] into, int offset, int length) {
        MemorySegment.copy(ALL, JAVA_BYTE, address, into, offset, length);
    }

    public static void putBytes(long address, byte[] from, int offset, int length) {
        MemorySegment.copy(from, offset, ALL, JAVA_BYTE, address, length);
    }
}
