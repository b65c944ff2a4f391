package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// Strings as C wants them: an array of addresses that ends with a null, and behind it the bytes,
/// each string ending with a zero. All in one piece of memory, which lives as long as this is
/// reachable.
public final class CStrings {
    private final MemorySegment memory;

    public CStrings(List<byte[]> strings) {
        long table = (strings.size() + 1L) * Long.BYTES;
        long bytes = 0;
        for (byte[] string : strings) {
            bytes += string.length + 1L;
        }
        memory = Memory.allocate(table + bytes);
        long at = table;
        for (int i = 0; i < strings.size(); i++) {
            byte[] string = strings.get(i);
            memory.setAtIndex(ValueLayout.JAVA_LONG, i, memory.address() + at);
            MemorySegment.copy(string, 0, memory, ValueLayout.JAVA_BYTE, at, string.length);
            at += string.length + 1L;
        }
    }

    /// The address of the array.
    public long address() {
        return memory.address();
    }

    /// The address of one string.
    public long addressOf(int index) {
        return memory.getAtIndex(ValueLayout.JAVA_LONG, index);
    }
}
