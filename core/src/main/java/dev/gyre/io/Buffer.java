package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.loop.Loop;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.util.Objects;

/// Native memory that is filled at one end and emptied at the other: bytes are put at the writing position and
/// taken at the reading position, which follows it.
///
/// ```
///     0        reading        writing       capacity
///     │  taken    │  readable    │  writable   │
/// ```
///
/// **Ownership.** An [dev.gyre.io.operation.Operation] that was given a buffer has it from `start` until its completion is handed out: the
/// kernel may be writing into it. Until then every other use of it throws an [IllegalStateException] that
/// names the operation, and so does a second operation.
///
/// **Memory.** That of [#allocate] is freed when nobody can reach it any more. [#acquire] has memory
/// of the loop's, which is there already and is given back by [#release()]; so has what
/// [dev.gyre.io.operation.ReceiveOperation#keep()] kept. With the system property `gyre.leaks=on`, what is never given back is
/// told to [dev.gyre.metrics.LoopObserver#onBufferLeak].
///
/// **Slices** share the memory of the buffer they were taken off, and it goes back when that
/// buffer and all of them were released, in any order and on any threads.
///
/// **Threads.** One at a time.
///
/// ```java
/// var buffer = Buffer.allocate(4096).put("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
/// operations.write(socket, buffer, op -> IO.println(op.result() + " bytes sent")).start();
/// ```
public sealed interface Buffer permits NativeBuffer {
    /// A new, empty buffer, filled with zeros.
    ///
    /// @param capacity from 1 byte to 1 GiB
    static Buffer allocate(int capacity) {
        return NativeBuffer.allocate(capacity);
    }

    /// An empty buffer of the loop's memory, for as long as it is needed: [#release()] gives it
    /// back, on any thread. What it holds beyond what is put into it is left over from others.
    /// Loop-confined.
    ///
    /// ```java
    /// var frame = Buffer.acquire(loop, 4 + body.length).putInt(body.length).put(body);
    /// operations.write(socket, frame, op -> frame.release()).start();
    /// ```
    ///
    /// @param capacity how much room it has at least, from 1 byte to 1 GiB; up to 64 KiB it costs
    ///     no allocation of memory
    /// @throws dev.gyre.LoopOverloadedException if the loop's memory is used up:
    ///     [dev.gyre.LoopConfig#bufferMemory()]
    static Buffer acquire(EventLoop loop, int capacity) {
        return Loop.of(loop).operations().pool().acquireForUserOrThrow(capacity);
    }

    /// The same, with refusal as a value. Loop-confined.
    ///
    /// @return null if the loop's memory is used up
    static @Nullable Buffer tryAcquire(EventLoop loop, int capacity) {
        return Loop.of(loop).operations().pool().acquireForUser(capacity);
    }

    /// How many bytes it has room for in all.
    int capacity();

    /// How many bytes can be taken.
    int readable();

    /// How many bytes can be put.
    int writable();

    /// Puts a byte.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for it
    Buffer put(byte value);

    /// Puts all of these bytes.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them; none are put then
    default Buffer put(byte[] bytes) {
        return put(bytes, 0, bytes.length);
    }

    /// Puts some of these bytes.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them, or no such part; none are put then
    Buffer put(byte[] bytes, int offset, int length);

    /// Puts text in UTF-8.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for it; nothing is put then
    Buffer put(String text);

    /// Puts what the other has between its position and its limit, and moves its position there.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for it; nothing is put then
    Buffer put(ByteBuffer bytes);

    /// Puts everything that is readable in the other one, which is empty then.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for it; nothing is put then
    Buffer put(Buffer other);

    /// Puts two bytes, the higher one first.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them
    Buffer putShort(short value);

    /// Puts four bytes, the highest one first.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them
    Buffer putInt(int value);

    /// Puts eight bytes, the highest one first.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them
    Buffer putLong(long value);

    /// Takes a byte.
    ///
    /// @throws IndexOutOfBoundsException if there is none
    byte get();

    /// Takes two bytes, the higher one first.
    ///
    /// @throws IndexOutOfBoundsException if there are fewer; none is taken then
    short getShort();

    /// Takes four bytes, the highest one first.
    ///
    /// @throws IndexOutOfBoundsException if there are fewer; none is taken then
    int getInt();

    /// Takes eight bytes, the highest one first.
    ///
    /// @throws IndexOutOfBoundsException if there are fewer; none is taken then
    long getLong();

    /// Takes as many bytes as the array has.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there are fewer; none are taken then
    default Buffer get(byte[] into) {
        return get(into, 0, into.length);
    }

    /// Takes bytes into a part of an array.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there are fewer, or no such part; none are taken then
    Buffer get(byte[] into, int offset, int length);

    /// Takes everything readable.
    default byte[] getBytes() {
        byte[] bytes = new byte[readable()];
        get(bytes);
        return bytes;
    }

    /// Looks at a byte without taking it.
    ///
    /// @param offset from the reading position
    /// @throws IndexOutOfBoundsException if there is none
    byte peek(int offset);

    /// Looks at eight bytes without taking them, the first of them in the highest bits.
    ///
    /// @param offset of the first, from the reading position
    /// @throws IndexOutOfBoundsException if there are fewer
    long peekLong(int offset);

    /// Looks for a byte without taking anything.
    ///
    /// @return where it is first, counted from the reading position, as [#peek] does; -1 if it is
    ///     not there
    int indexOf(byte value);

    /// Takes everything readable as text.
    default String getText(Charset charset) {
        return getText(readable(), charset);
    }

    /// Takes bytes as text.
    ///
    /// @throws IndexOutOfBoundsException if there are fewer; none are taken then
    default String getText(int bytes, Charset charset) {
        // Before memory is asked for that somebody else may have said the size of.
        Objects.checkIndex(bytes, readable() + 1);
        byte[] copy = new byte[bytes];
        get(copy);
        return new String(copy, charset);
    }

    /// Takes bytes as a buffer of its own, without copying them: a slice has no room, and cannot
    /// be put into. It shares this one's memory, which goes back to the loop when both were
    /// released. Of memory that is not the loop's it needs no release; but only when it was
    /// released can [#clear()] and [#compact()] make its place writable again.
    ///
    /// A slice of what is valid in a callback only ([dev.gyre.io.operation.ReceiveOperation#received()]) is valid in that
    /// callback only.
    ///
    /// @throws IndexOutOfBoundsException if there are fewer; none are taken then
    Buffer slice(int bytes);

    /// What is readable, as the JDK knows it: the same memory, valid until bytes are put, or this
    /// is released or given to an operation.
    ByteBuffer asReadable();

    /// The room for more, as the JDK knows it: what is put there counts when [#advance] says so.
    /// Valid as long as [#asReadable()].
    ByteBuffer asWritable();

    /// Makes bytes readable that were put through [#asWritable()].
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is not so much room
    Buffer advance(int bytes);

    /// Takes bytes without looking at them.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there are fewer
    Buffer skip(int bytes);

    /// Forgets what is readable: everything is writable again, but for what slices have.
    ///
    /// @return this buffer
    Buffer clear();

    /// Moves what is readable to the beginning, so that the room of what was taken is writable again.
    ///
    /// @return this buffer
    Buffer compact();

    /// Whether an operation has it.
    boolean isInFlight();

    /// Gives a buffer back, from any thread: one of [#acquire], one that [dev.gyre.io.operation.ReceiveOperation#keep()] kept, or a
    /// slice. It cannot be used any more. Does nothing for one of [#allocate], nor for one that
    /// goes back by itself.
    ///
    /// @throws IllegalStateException if an operation has it, or it was released already
    void release();
}
