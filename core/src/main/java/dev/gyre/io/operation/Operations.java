package dev.gyre.io.operation;

import dev.gyre.EventLoop;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.OpenDescriptor;
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

/// Makes the operations of a loop: what the kernel is asked to do and tells of when it is done. The same calls on
/// every backend, and the same outcomes.
///
/// ```java
/// var operations = Operations.on(loop);
/// var listener = Sockets.listen(loop, new InetSocketAddress("localhost", 0));
/// operations.acceptEach(listener, op -> serve(op.accepted())).start();
/// ```
///
/// An operation is made once and started as often as wanted. None starts by itself.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop. A descriptor may be closed by any thread: what
/// is pending on it is then cancelled, and the number given back after that.
///
/// **End of the loop.** Once all tasks are done, [EventLoop#shutdown] cancels what waits for others, such as reads and accepts, and
/// lets writes and files finish until its deadline; callbacks still run. What [EventLoop#close] finds never completes.
public final class Operations {
    private final LoopOperations operations;

    private Operations(LoopOperations operations) {
        this.operations = operations;
    }

    /// The operations of a loop.
    public static Operations on(EventLoop loop) {
        return new Operations(Loop.of(loop).operations());
    }

    // ------------------------------------------------------------------ bytes

    /// Reads what is there, at least one byte, at most what the buffer has room for. Result zero is the end.
    public Operation read(Descriptor from, Buffer into, Consumer<? super Operation> done) {
        return ofBuffer(Opcode.READ, from, into, done);
    }

    /// Writes everything that is readable in the buffer. It completes when all of it has been taken, or with the error
    /// that kept it from that; [Operation#transferred()] says how far it came.
    public Operation write(Descriptor to, Buffer from, Consumer<? super Operation> done) {
        return ofBuffer(Opcode.WRITE, to, from, done);
    }

    /// Reads into several buffers with one call, filling one after the other.
    ///
    /// @param into 1 to 1 024 buffers
    public Operation read(
            Descriptor from, List<? extends Buffer> into, Consumer<? super Operation> done) {
        return ofVector(Opcode.READ_VECTOR, from, into, done);
    }

    /// Writes several buffers, one after the other, gathered into as few calls as it takes.
    ///
    /// @param from 1 to 1 024 buffers
    public Operation write(
            Descriptor to, List<? extends Buffer> from, Consumer<? super Operation> done) {
        return ofVector(Opcode.WRITE_VECTOR, to, from, done);
    }

    /// Receives what arrives, again and again, in buffers of the loop's own.
    public ReceiveOperation receive(Descriptor from, Consumer<? super ReceiveOperation> done) {
        check("receive", done);
        return operations.pools().receiving().of(open(from), done);
    }

    /// Reads the one byte of urgent data that TCP can mark. It is served before reads that wait.
    public Operation readUrgent(Descriptor from, Buffer into, Consumer<? super Operation> done) {
        return ofBuffer(Opcode.READ_URGENT, from, into, done);
    }

    // ------------------------------------------------------------------ messages

    /// Receives one message, and where it came from.
    public MessageOperation receiveMessage(
            Descriptor from, Buffer into, Consumer<? super MessageOperation> done) {
        return ofMessage(Opcode.RECEIVE_MESSAGE, from, into, done);
    }

    /// Sends what is readable in the buffer as one message, to [Message#to] or to the socket's peer.
    public MessageOperation sendMessage(
            Descriptor by, Buffer from, Consumer<? super MessageOperation> done) {
        return ofMessage(Opcode.SEND_MESSAGE, by, from, done);
    }

    // ------------------------------------------------------------------ connections

    /// Accepts one connection.
    public AcceptOperation accept(Descriptor listener, Consumer<? super AcceptOperation> done) {
        check("accept", done);
        return operations.pools().accepting().of(open(listener), false, done);
    }

    /// Accepts one connection after the other, until it fails or is cancelled.
    public AcceptOperation acceptEach(Descriptor listener, Consumer<? super AcceptOperation> done) {
        check("acceptEach", done);
        return operations.pools().accepting().of(open(listener), true, done);
    }

    /// Connects a socket. Result zero is success.
    public Operation connect(
            Descriptor socket, SocketAddress to, Consumer<? super Operation> done) {
        check("connect", done);
        Objects.requireNonNull(to, "to");
        return operations.pools().bufferless().connect(open(socket), to, done);
    }

    // ------------------------------------------------------------------ between descriptors

    /// Sends a part of a file without copying it through memory of ours. The result is how much was sent: less than asked
    /// for if the file ends before.
    public Operation sendFile(
            Descriptor file,
            long offset,
            long bytes,
            Descriptor to,
            Consumer<? super Operation> done) {
        check("sendFile", done);
        requireOffset(offset);
        return operations
                .pools()
                .bufferless()
                .move(Opcode.SEND_FILE, open(to), open(file), offset, bytes, done);
    }

    /// Moves what is there, at most so many bytes, from a descriptor into a pipe. If the pipe is full it fails with
    /// ENOBUFS: empty it and start again.
    public Operation spliceToPipe(
            Descriptor from, Descriptor pipe, long bytes, Consumer<? super Operation> done) {
        check("spliceToPipe", done);
        return operations
                .pools()
                .bufferless()
                .move(Opcode.SPLICE_FROM, open(from), open(pipe), 0, bytes, done);
    }

    /// Moves at most so many bytes out of a pipe to a descriptor. If the pipe is empty it fails with ENOBUFS; zero is
    /// its end.
    public Operation spliceFromPipe(
            Descriptor pipe, Descriptor to, long bytes, Consumer<? super Operation> done) {
        check("spliceFromPipe", done);
        return operations
                .pools()
                .bufferless()
                .move(Opcode.SPLICE_TO, open(to), open(pipe), 0, bytes, done);
    }

    // ------------------------------------------------------------------ files

    /// Opens a file. Of the [StandardOpenOption]s READ, WRITE, APPEND, CREATE, CREATE_NEW, TRUNCATE_EXISTING, SYNC and DSYNC
    /// are known; new files are readable by all and writable by their owner, less the process's umask.
    ///
    /// @throws UnsupportedOperationException for other options
    public FileOpenOperation open(
            Path path, Consumer<? super FileOpenOperation> done, OpenOption... options) {
        check("open", done);
        Objects.requireNonNull(path, "path");
        return operations.pools().opening().of(path, done, options);
    }

    /// Reads a file at an offset: at most what the buffer has room for, zero at its end.
    public Operation readAt(
            Descriptor file, long offset, Buffer into, Consumer<? super Operation> done) {
        check("readAt", done);
        requireOffset(offset);
        return operations
                .pools()
                .buffered()
                .of(Opcode.FILE_READ, open(file), Objects.requireNonNull(into, "into"), done)
                .at(offset);
    }

    /// Writes everything that is readable in the buffer to a file, from an offset on.
    public Operation writeAt(
            Descriptor file, long offset, Buffer from, Consumer<? super Operation> done) {
        check("writeAt", done);
        requireOffset(offset);
        return operations
                .pools()
                .buffered()
                .of(Opcode.FILE_WRITE, open(file), Objects.requireNonNull(from, "from"), done)
                .at(offset);
    }

    /// Waits until what was written to a file is on the disk.
    ///
    /// @param dataOnly without what is not needed to read it again, such as its times
    public Operation sync(Descriptor file, boolean dataOnly, Consumer<? super Operation> done) {
        check("sync", done);
        return operations.pools().bufferless().sync(open(file), dataOnly, done);
    }

    /// Looks at the file of a descriptor.
    public FileStatOperation stat(Descriptor file, Consumer<? super FileStatOperation> done) {
        check("stat", done);
        return operations.pools().stat().of(open(file), done);
    }

    /// Looks at the file of a path, following symbolic links.
    public FileStatOperation stat(Path path, Consumer<? super FileStatOperation> done) {
        check("stat", done);
        return operations.pools().stat().of(Objects.requireNonNull(path, "path"), done);
    }

    /// Closes a descriptor without waiting for the disk on the loop thread. From its start on the descriptor is closed.
    public Operation close(Descriptor file, Consumer<? super Operation> done) {
        check("close", done);
        return operations.pools().bufferless().close(open(file), done);
    }

    // ------------------------------------------------------------------ ending

    /// Cancels everything that is pending on a descriptor, in the order it was started.
    public void cancelAll(Descriptor descriptor) {
        operations.cancelAll(open(descriptor), null);
    }

    /// Cancels what is pending on a descriptor and has that [Operation#key].
    public void cancelAll(Descriptor descriptor, Object key) {
        operations.cancelAll(open(descriptor), Objects.requireNonNull(key, "key"));
    }

    // ------------------------------------------------------------------ inside

    private void check(String method, Object done) {
        Objects.requireNonNull(done, "done");
        operations.requireOpen(method);
    }

    private static OpenDescriptor open(Descriptor descriptor) {
        return (OpenDescriptor) Objects.requireNonNull(descriptor, "descriptor");
    }

    private static void requireOffset(long offset) {
        if (offset < 0) {
            throw new IllegalArgumentException("an offset is never negative: " + offset);
        }
    }

    private Operation ofBuffer(
            Opcode opcode, Descriptor of, Buffer buffer, Consumer<? super Operation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffer, "buffer");
        return operations.pools().buffered().of(opcode, open(of), buffer, done);
    }

    private Operation ofVector(
            Opcode opcode,
            Descriptor of,
            List<? extends Buffer> buffers,
            Consumer<? super Operation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffers, "buffers");
        return operations.pools().vectored().of(opcode, open(of), buffers, done);
    }

    private MessageOperation ofMessage(
            Opcode opcode, Descriptor of, Buffer buffer, Consumer<? super MessageOperation> done) {
        check(opcode.call, done);
        Objects.requireNonNull(buffer, "buffer");
        return operations.pools().message().of(opcode, open(of), buffer, done);
    }
}
