package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/// Native memory with checked access for us and an address for the kernel. It lives as long as this is
/// reachable.
public final class NativeBytes {
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

    /// A part of it, which keeps it all alive.
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

    public void put(long at, ByteBuffer from) {
        int length = from.remaining();
        MemorySegment.copy(MemorySegment.ofBuffer(from), 0, memory, at, length);
        from.position(from.position() + length);
    }

    /// Moves bytes within, also where the places overlap.
    public void move(long from, long to, long length) {
        MemorySegment.copy(memory, from, memory, to, length);
    }

    /// The same memory as the JDK knows it.
    public ByteBuffer view(long at, long length) {
        return memory.asSlice(at, length).asByteBuffer();
    }
}
