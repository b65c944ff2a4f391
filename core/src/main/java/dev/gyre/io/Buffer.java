package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Objects;

/// Holds bytes in native memory. Bytes are put at the write index and read at the read index, which
/// never passes the write index.
///
/// ```
///     0       read index    write index    capacity
///     │  consumed │  readable    │  writable   │
/// ```
///
/// **Ownership.** An [operation][dev.gyre.io.operation.Operation] owns its buffer from `start`
/// until its callback, because the kernel may access the memory. Meanwhile every other use throws
/// an [IllegalStateException] that names the operation.
///
/// **Memory.** The garbage collector frees buffers from [#allocate]. Buffers from [#acquire] and
/// [kept][dev.gyre.io.operation.ReceiveOperation#keep()] receive buffers use memory of the loop:
/// call [#release()]. With the system property `gyre.leaks=on`, unreleased buffers are reported to
/// [dev.gyre.metrics.LoopObserver#onBufferLeak].
///
/// **Slices** share the memory of their buffer. The memory is returned once the buffer and all its
/// slices are released, in any order and on any threads.
///
/// **Bounds.** A method that puts more bytes than are writable, or consumes more than are readable,
/// throws an [IndexOutOfBoundsException] and changes nothing. Instance methods that return a
/// buffer, except [#slice], return this one.
///
/// **Threads.** Any, but one at a time.
///
/// ```java
/// var buffer = Buffer.allocate(4096).put("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
/// operations.write(socket, buffer, op -> IO.println(op.result() + " bytes sent")).start();
/// ```
public sealed interface Buffer permits NativeBuffer {
    /// Allocates an empty buffer filled with zeros.
    ///
    /// @param capacity from 1 byte to 1 GiB
    /// @throws IllegalArgumentException if the capacity is out of range
    static Buffer allocate(int capacity) {
        return NativeBuffer.allocate(capacity);
    }

    /// Acquires an empty buffer from the loop's memory. Return it by [#release()] on any thread.
    /// Its writable part contains old data. Loop-confined.
    ///
    /// ```java
    /// var frame = Buffer.acquire(loop, 4 + body.length).putInt(body.length).put(body);
    /// operations.write(socket, frame, op -> frame.release()).start();
    /// ```
    ///
    /// @param capacity the minimum capacity, from 1 byte to 1 GiB; up to 64 KiB, no native memory
    ///     is allocated
    /// @throws dev.gyre.LoopOverloadedException if the loop's memory is used up:
    ///     [dev.gyre.LoopConfig#bufferMemory()]
    static Buffer acquire(EventLoop loop, int capacity) {
        return Loop.of(loop).operations().pool().acquireForUserOrThrow(capacity);
    }

    /// Acquires a buffer as [#acquire] does. Loop-confined.
    ///
    /// @return null if the loop's memory is used up
    static @Nullable Buffer tryAcquire(EventLoop loop, int capacity) {
        return Loop.of(loop).operations().pool().acquireForUser(capacity);
    }

    /// Returns the size of the memory in bytes.
    int capacity();

    /// Returns the number of bytes between the read index and the write index.
    int readable();

    /// Returns the number of bytes between the write index and the capacity.
    int writable();

    /// Puts a byte.
    Buffer put(byte value);

    /// Puts all bytes of an array.
    default Buffer put(byte[] bytes) {
        return put(bytes, 0, bytes.length);
    }

    /// Puts a range of an array.
    ///
    /// @throws IndexOutOfBoundsException also if it is not within the array
    Buffer put(byte[] bytes, int offset, int length);

    /// Puts text in UTF-8.
    Buffer put(String text);

    /// Puts the bytes between a buffer's position and limit, and advances its position.
    Buffer put(ByteBuffer bytes);

    /// Puts the readable bytes of another buffer, and consumes them there.
    ///
    /// @throws IllegalArgumentException if the other buffer is this one
    Buffer put(Buffer other);

    /// Puts two bytes in big-endian order.
    Buffer putShort(short value);

    /// Puts four bytes in big-endian order.
    Buffer putInt(int value);

    /// Puts eight bytes in big-endian order.
    Buffer putLong(long value);

    /// Reads a byte.
    byte get();

    /// Reads two bytes in big-endian order.
    short getShort();

    /// Reads four bytes in big-endian order.
    int getInt();

    /// Reads eight bytes in big-endian order.
    long getLong();

    /// Reads as many bytes as the array has.
    default Buffer get(byte[] into) {
        return get(into, 0, into.length);
    }

    /// Reads bytes into a range of an array.
    ///
    /// @throws IndexOutOfBoundsException also if the range is not within the array
    Buffer get(byte[] into, int offset, int length);

    /// Reads all readable bytes.
    default byte[] getBytes() {
        byte[] bytes = new byte[readable()];
        get(bytes);
        return bytes;
    }

    /// Returns a byte without consuming it.
    ///
    /// @param offset from the read index
    /// @throws IndexOutOfBoundsException if the byte is not readable
    byte peek(int offset);

    /// Returns eight bytes in big-endian order without consuming them.
    ///
    /// @param offset of the first byte, from the read index
    /// @throws IndexOutOfBoundsException if one of them is not readable
    long peekLong(int offset);

    /// Searches the readable bytes for a byte. Consumes nothing.
    ///
    /// @return the offset of its first occurrence from the read index, as for [#peek]; -1 if absent
    default int indexOf(byte value) {
        return indexOf(value, 0);
    }

    /// Searches the readable bytes as [#indexOf(byte)] does, from an offset.
    ///
    /// @param from the offset of the first byte to search, from the read index
    /// @throws IndexOutOfBoundsException if it is negative or beyond the write index
    int indexOf(byte value, int from);

    /// Reads all readable bytes as text.
    default String getText(Charset charset) {
        return getText(readable(), charset);
    }

    /// Reads bytes as text.
    default String getText(int bytes, Charset charset) {
        // Check first: a peer may have chosen the size of the array.
        Objects.checkIndex(bytes, readable() + 1);
        byte[] copy = new byte[bytes];
        get(copy);
        return new String(copy, charset);
    }

    /// Consumes bytes and returns them as a buffer that shares the memory. A slice is full: nothing
    /// can be put into it.
    ///
    /// The memory of an acquired buffer is returned once the buffer and the slice are released.
    /// Slices of an allocated buffer need no release, but [#clear()] and [#compact()] reuse their
    /// place only after it. A slice of a buffer that is valid during a callback only, such as
    /// [dev.gyre.io.operation.ReceiveOperation#received()], is valid during that callback only.
    Buffer slice(int bytes);

    /// Returns a view of the readable bytes. The view shares the memory. It is valid until bytes
    /// are put, the buffer is released, or an operation starts with it.
    ByteBuffer asReadable();

    /// Returns a view of the writable part. Call [#advance] after bytes are put there. The view is
    /// valid as long as that of [#asReadable()].
    ByteBuffer asWritable();

    /// Advances the write index over bytes that were put through [#asWritable()].
    Buffer advance(int bytes);

    /// Consumes bytes without reading them.
    Buffer skip(int bytes);

    /// Marks the read index for [#reset()]. Replaces an earlier mark.
    Buffer mark();

    /// Moves the read index back to the mark, so that the bytes after it are readable again.
    ///
    /// @throws IllegalStateException without a mark: [#clear()] and [#compact()] discard it
    Buffer reset();

    /// Discards the readable bytes. Everything except the memory of slices becomes writable.
    Buffer clear();

    /// Moves the readable bytes to the start, so that the consumed part becomes writable.
    Buffer compact();

    /// Returns whether a pending operation owns the buffer.
    boolean isInFlight();

    /// Releases a buffer from [#acquire], a kept receive buffer, or a slice. Later uses throw. Does
    /// nothing for a buffer from [#allocate], or one that is valid during a callback only. Any
    /// thread.
    ///
    /// @throws IllegalStateException if an operation owns the buffer, or it was released before
    void release();
}
