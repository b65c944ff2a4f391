package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;

/// Room for what `posix_spawn` takes besides strings, zeroed. How large the structures are is the
/// business of libc alone, and may change: today it is 80, 336 and 128 bytes in glibc and in musl.
/// Each gets more than any of them needs.
public final class SpawnMemory {
    private static final int ROOM_BYTES = 1024;

    private final MemorySegment memory = Memory.allocate(3 * ROOM_BYTES);

    /// `posix_spawn_file_actions_t`.
    public long actions() {
        return memory.address();
    }

    /// `posix_spawnattr_t`.
    public long attributes() {
        return memory.address() + ROOM_BYTES;
    }

    /// A `sigset_t`, empty at first.
    public long signals() {
        return memory.address() + 2 * ROOM_BYTES;
    }

    /// Adds a standard signal to the set, which has a bit for each, from the lowest up.
    public void addSignal(int number) {
        Memory.putLong(signals(), Memory.getLong(signals()) | 1L << (number - 1));
    }
}
