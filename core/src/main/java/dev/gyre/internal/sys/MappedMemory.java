package dev.gyre.internal.sys;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory outside the Java heap that is freed explicitly. It does not count against the JVM's
/// direct-memory limit, so mapping neither triggers a garbage collection nor throws. It returns
/// `null` if the system refuses.
///
/// Every view of it, including a `ByteBuffer` that user code still holds, throws
/// [IllegalStateException] once it is freed. A shared arena enforces this. Closing one briefly
/// stops every thread of the process, about 15 µs with few threads, so free memory rarely. The
/// garbage collector frees unreachable memory.
///
/// Any thread.
public final class MappedMemory {
    /// The granularity of mappings. Systems with larger pages round up.
    public static final int PAGE_BYTES = 4 << 10;

    private final MemoryCalls calls;
    private final Arena arena;
    private final NativeBytes bytes;

    /// Frees it once this object is unreachable, on the JDK's own cleaner thread.
    @SuppressWarnings("UnusedVariable") // being reachable is its purpose
    private final MemorySegment guard;

    @SuppressWarnings("restricted") // the purpose of this package
    private MappedMemory(MemoryCalls calls, MemorySegment memory, Arena arena) {
        this.calls = calls;
        this.arena = arena;
        bytes = new NativeBytes(memory);
        guard = MemorySegment.NULL.reinterpret(0, Arena.ofAuto(), _ -> close(arena));
    }

    /// Maps zeroed memory.
    ///
    /// @param size a multiple of [#PAGE_BYTES]
    /// @return null if the system refuses
    @SuppressWarnings("restricted") // the purpose of this package
    public static @Nullable MappedMemory map(MemoryCalls calls, long size) {
        Arena arena = Arena.ofShared();
        long address = calls.map(size);
        if (address < 0) { // No address of user space is negative.
            return null;
        }
        boolean owned = false;
        try {
            MemorySegment memory =
                    MemorySegment.ofAddress(address)
                            .reinterpret(size, arena, _ -> calls.unmap(address, size));
            owned = true;
            return new MappedMemory(calls, memory, arena);
        } catch (Throwable e) { // No heap for these objects.
            if (owned) {
                arena.close();
            } else {
                calls.unmap(address, size);
            }
            throw e;
        }
    }

    public NativeBytes bytes() {
        return bytes;
    }

    /// Returns the pages of a part to the system. The next access maps new ones.
    public void discard(long at, long length) {
        int _ = calls.discard(bytes.address() + at, length); // A refusal costs only memory.
    }

    /// Returns false and frees nothing if a thread is in a JDK call that uses a view of it.
    public boolean free() {
        return close(arena);
    }

    private static boolean close(Arena arena) {
        try {
            if (arena.scope().isAlive()) {
                arena.close();
            }
            return true;
        } catch (IllegalStateException e) {
            return false; // In use, or closed by another thread in between.
        }
    }
}
