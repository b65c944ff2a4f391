package dev.gyre.io.operation;

import dev.gyre.EventLoop;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.OperationPools;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// Creates the [operations][Operation] of a loop. Calls and outcomes are the same on every backend.
///
/// ```java
/// var operations = Operations.on(loop);
/// var listener = Sockets.listen(loop, new InetSocketAddress("localhost", 0));
/// operations.acceptEach(listener, op -> serve(op.accepted())).start();
/// ```
///
/// An operation is created once and started any number of times. It does not start by itself. Its
/// callback receives the operation.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop. A descriptor may be
/// closed on any thread: its pending operations are cancelled before the number is freed.
///
/// **Shutdown.** Once all tasks are done, [EventLoop#shutdown] cancels operations that wait for a
/// peer, such as reads and accepts. Writes and file operations may finish until its deadline.
/// Callbacks still run. Operations that are pending at [EventLoop#close] never complete.
///
/// **Exceptions.** All methods throw a [NullPointerException] for null, a [WrongThreadException] on
/// another thread, and a [dev.gyre.LoopTerminatedException] after the end of the loop. They throw
/// an [IllegalArgumentException] for a negative offset, for `bytes` below 1, and for a number of
/// buffers out of range.
public final class Operations {
    private final LoopOperations operations;
    private final OperationPools pools;

    private Operations(LoopOperations operations) {
        this.operations = operations;
        pools = operations.pools();
    }

    /// Returns the operations of a loop.
    public static Operations on(EventLoop loop) {
        return new Operations(Loop.of(loop).operations());
    }

    // ------------------------------------------------------------------ bytes

    /// Reads available bytes: at least one, at most the writable bytes of the buffer. Result zero
    /// is the end of input.
    public Operation read(Descriptor from, Buffer into, Consumer<? super Operation> done) {
        return buffered(Opcode.READ, from, into, done);
    }

    /// Writes all readable bytes of the buffer. Completes once all are written, or with an error;
    /// [Operation#transferred()] then returns the number of bytes written before.
    public Operation write(Descriptor to, Buffer from, Consumer<? super Operation> done) {
        return buffered(Opcode.WRITE, to, from, done);
    }

    /// Reads into several buffers with one call, filling one after the other.
    ///
    /// @param into 1 to 1 024 buffers
    public Operation read(
            Descriptor from, List<? extends Buffer> into, Consumer<? super Operation> done) {
        return vectored(Opcode.READ_VECTOR, from, into, done);
    }

    /// Writes all readable bytes of several buffers in order, with as few calls as possible.
    ///
    /// @param from 1 to 1 024 buffers
    public Operation write(
            Descriptor to, List<? extends Buffer> from, Consumer<? super Operation> done) {
        return vectored(Opcode.WRITE_VECTOR, to, from, done);
    }

    /// Receives repeatedly into the loop's receive buffers.
    public ReceiveOperation receive(Descriptor from, Consumer<? super ReceiveOperation> done) {
        check("receive", done);
        return pools.receiving.acquire().of(open(from), done);
    }

    /// Reads the byte of urgent data that TCP can mark. Completes before pending reads.
    public Operation readUrgent(Descriptor from, Buffer into, Consumer<? super Operation> done) {
        return buffered(Opcode.READ_URGENT, from, into, done);
    }

    // ------------------------------------------------------------------ messages

    /// Receives one message and its sender.
    public MessageOperation receiveMessage(
            Descriptor from, Buffer into, Consumer<? super MessageOperation> done) {
        return message(Opcode.RECEIVE_MESSAGE, from, into, done);
    }

    /// Sends the readable bytes of the buffer as one message, to [MessageOperation#to] or the
    /// socket's peer.
    public MessageOperation sendMessage(
            Descriptor by, Buffer from, Consumer<? super MessageOperation> done) {
        return message(Opcode.SEND_MESSAGE, by, from, done);
    }

    // ------------------------------------------------------------------ connections

    /// Accepts one connection.
    public AcceptOperation accept(Descriptor listener, Consumer<? super AcceptOperation> done) {
        check("accept", done);
        return pools.accepting.acquire().of(open(listener), false, done);
    }

    /// Accepts connections repeatedly, until it fails or is cancelled.
    public AcceptOperation acceptEach(Descriptor listener, Consumer<? super AcceptOperation> done) {
        check("acceptEach", done);
        return pools.accepting.acquire().of(open(listener), true, done);
    }

    /// Connects a socket. Result zero is success.
    public Operation connect(
            Descriptor socket, SocketAddress to, Consumer<? super Operation> done) {
        check("connect", done);
        Objects.requireNonNull(to, "to");
        return pools.bufferless.acquire().connect(open(socket), to, done);
    }

    // ------------------------------------------------------------------ between descriptors

    /// Sends a part of a file without copying it through user memory. The result is the number of
    /// bytes sent: fewer if the file ends before.
    public Operation sendFile(
            Descriptor file,
            long offset,
            long bytes,
            Descriptor to,
            Consumer<? super Operation> done) {
        check("sendFile", done);
        requireOffset(offset);
        return pools.bufferless
                .acquire()
                .move(Opcode.SEND_FILE, open(to), open(file), offset, bytes, done);
    }

    /// Moves available bytes from a descriptor into a pipe. Fails with ENOBUFS if the pipe is full:
    /// drain it and start again.
    ///
    /// @param bytes the maximum
    public Operation spliceToPipe(
            Descriptor from, Descriptor pipe, long bytes, Consumer<? super Operation> done) {
        check("spliceToPipe", done);
        return pools.bufferless
                .acquire()
                .move(Opcode.SPLICE_FROM, open(from), open(pipe), 0, bytes, done);
    }

    /// Moves bytes from a pipe to a descriptor. Fails with ENOBUFS if the pipe is empty. Result
    /// zero is its end.
    ///
    /// @param bytes the maximum
    public Operation spliceFromPipe(
            Descriptor pipe, Descriptor to, long bytes, Consumer<? super Operation> done) {
        check("spliceFromPipe", done);
        return pools.bufferless
                .acquire()
                .move(Opcode.SPLICE_TO, open(to), open(pipe), 0, bytes, done);
    }

    // ------------------------------------------------------------------ files

    /// Opens a file. Supports the [StandardOpenOption]s READ, WRITE, APPEND, CREATE, CREATE_NEW,
    /// TRUNCATE_EXISTING, SYNC and DSYNC. New files are readable by all and writable by their
    /// owner, less the umask of the process.
    ///
    /// @throws UnsupportedOperationException for other options
    public FileOpenOperation open(
            Path path, Consumer<? super FileOpenOperation> done, OpenOption... options) {
        check("open", done);
        Objects.requireNonNull(path, "path");
        return pools.opening.acquire().of(path, done, options);
    }

    /// Reads a file at an offset: at most the writable bytes of the buffer. Result zero is the end
    /// of the file.
    public Operation readAt(
            Descriptor file, long offset, Buffer into, Consumer<? super Operation> done) {
        check("readAt", done);
        requireOffset(offset);
        Objects.requireNonNull(into, "into");
        return pools.buffered.acquire().of(Opcode.FILE_READ, open(file), into, done).at(offset);
    }

    /// Writes all readable bytes of the buffer to a file at an offset.
    public Operation writeAt(
            Descriptor file, long offset, Buffer from, Consumer<? super Operation> done) {
        check("writeAt", done);
        requireOffset(offset);
        Objects.requireNonNull(from, "from");
        return pools.buffered.acquire().of(Opcode.FILE_WRITE, open(file), from, done).at(offset);
    }

    /// Flushes a file to the disk.
    ///
    /// @param dataOnly whether to skip metadata that reads do not need, such as its times
    public Operation sync(Descriptor file, boolean dataOnly, Consumer<? super Operation> done) {
        check("sync", done);
        return pools.bufferless.acquire().sync(open(file), dataOnly, done);
    }

    /// Reads the status of a descriptor's file.
    public FileStatOperation stat(Descriptor file, Consumer<? super FileStatOperation> done) {
        check("stat", done);
        return pools.stat.acquire().of(open(file), done);
    }

    /// Reads the status of a path's file, following symbolic links.
    public FileStatOperation stat(Path path, Consumer<? super FileStatOperation> done) {
        check("stat", done);
        return pools.stat.acquire().of(Objects.requireNonNull(path, "path"), done);
    }

    /// Closes a descriptor without waiting for the disk on the loop thread. The descriptor counts
    /// as closed from the start of the operation.
    public Operation close(Descriptor file, Consumer<? super Operation> done) {
        check("close", done);
        return pools.bufferless.acquire().close(open(file), done);
    }

    // ------------------------------------------------------------------ cancellation

    /// Cancels all pending operations of a descriptor, in the order of their starts.
    public void cancelAll(Descriptor descriptor) {
        operations.cancelAll(open(descriptor), null);
    }

    /// Cancels the pending operations of a descriptor with this [Operation#key].
    public void cancelAll(Descriptor descriptor, Object key) {
        operations.cancelAll(open(descriptor), Objects.requireNonNull(key, "key"));
    }

    // ------------------------------------------------------------------ helpers

    private void check(String method, Object done) {
        Objects.requireNonNull(done, "done");
        operations.requireOpen(method);
    }

    private static OpenDescriptor open(Descriptor descriptor) {
        return (OpenDescriptor) Objects.requireNonNull(descriptor, "descriptor");
    }

    private static void requireOffset(long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("offset must be at least 0, but is " + offset);
        }
    }

    private Operation buffered(
            Opcode opcode, Descriptor of, Buffer buffer, Consumer<? super Operation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffer, "buffer");
        return pools.buffered.acquire().of(opcode, open(of), buffer, done);
    }

    private Operation vectored(
            Opcode opcode,
            Descriptor of,
            List<? extends Buffer> buffers,
            Consumer<? super Operation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffers, "buffers");
        return pools.vectored.acquire().of(opcode, open(of), buffers, done);
    }

    private MessageOperation message(
            Opcode opcode, Descriptor of, Buffer buffer, Consumer<? super MessageOperation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffer, "buffer");
        return pools.message.acquire().of(opcode, open(of), buffer, done);
    }
}
