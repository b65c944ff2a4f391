package dev.gyre.io;

import dev.gyre.internal.io.NativeBuffer;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;

/// Native memory that is filled at one end and emptied at the other: bytes are put at the writing position and
/// taken at the reading position, which follows it.
///
/// ```
///     0        reading        writing       capacity
///     │  taken    │  readable    │  writable   │
/// ```
///
/// **Ownership.** An [Operation] that was given a buffer has it from `start` until its completion is handed out: the
/// kernel may be writing into it. Until then every other use of it throws an [IllegalStateException] that
/// names the operation, and so does a second operation.
///
/// **Threads.** One at a time. The memory is freed when the buffer is no longer reachable.
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
    Buffer put(byte[] bytes);

    /// Puts some of these bytes.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for them, or no such part; none are put then
    Buffer put(byte[] bytes, int offset, int length);

    /// Puts what the other has between its position and its limit, and moves its position there.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there is no room for it; nothing is put then
    Buffer put(ByteBuffer bytes);

    /// Takes a byte.
    ///
    /// @throws IndexOutOfBoundsException if there is none
    byte get();

    /// Takes as many bytes as the array has.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there are fewer; none are taken then
    Buffer get(byte[] into);

    /// Looks at a byte without taking it.
    ///
    /// @param offset from the reading position
    /// @throws IndexOutOfBoundsException if there is none
    byte peek(int offset);

    /// Takes everything readable as text.
    String getText(Charset charset);

    /// What is readable, as the JDK knows it: the same memory, valid until bytes are put or this is
    /// given to an operation.
    ByteBuffer asReadable();

    /// Takes bytes without looking at them.
    ///
    /// @return this buffer
    /// @throws IndexOutOfBoundsException if there are fewer
    Buffer skip(int bytes);

    /// Forgets what is readable: everything is writable again.
    ///
    /// @return this buffer
    Buffer clear();

    /// Moves what is readable to the beginning, so that the room of what was taken is writable again.
    ///
    /// @return this buffer
    Buffer compact();

    /// Whether an operation has it.
    boolean isInFlight();

    /// Gives a buffer that came from the loop back to it, as [Receive#keep()] asks, from any thread. Does nothing for
    /// others, nor for one that goes back by itself.
    ///
    /// @throws IllegalStateException if an operation has it, or it was given back already
    void release();
}
