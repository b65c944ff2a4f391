package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.BufferOperation;
import dev.gyre.internal.io.LoopOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.LoopReceive;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.VectorOperation;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.io.CloseReason;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// A connected socket. It receives into buffers of the loop's own, so that it has one only while bytes are
/// in it, and has at most one write under way.
///
/// ```
///                 read(true)                   read(false)
///     STOPPED ───────────────▶ RECEIVING ───────────────────▶ STOPPING
///        ▲                        │   ▲                          │
///        └────────────────────────┘   └──── cancelled, and ──────┤
///           end, error                      wanted again         │
///        ▲                                                       │
///        └───────────────────── cancelled ───────────────────────┘
/// ```
///
/// A receive that was cancelled is waited for before another one is started: the kernel may be through with
/// bytes that would otherwise be overtaken.
///
/// Loop thread only.
final class SocketTransport implements Transport {
    /// More than this is sent in several goes: other connections want their turn, and a slow peer is to be told from a
    /// dead one.
    private static final int PIECES_AT_ONCE = 16;

    private static final long FILE_BYTES_AT_ONCE = 1 << 20;

    private enum Receiving {
        STOPPED,
        RECEIVING,
        STOPPING
    }

    /// How long a kernel without memory is left alone.
    private static final Duration BREATHER = Duration.ofMillis(20);

    /// As much is thrown away at the end: more than a kernel holds for one connection, unless it is told to.
    private static final int MOST_DROPS = 256;

    private static final int DROP_BYTES = 1 << 16;

    private final EventLoop loop;
    private final LoopOperations operations;
    final OpenDescriptor socket;
    private final LoopReceive receive;
    private final HangupWatch hangup;
    private final Consumer<Operation> onWritten = this::written;
    private final Runnable onProgress = this::progressed;

    private @Nullable User user;
    private Receiving receiving = Receiving.STOPPED;
    private boolean wanted;

    /// Whether somebody waits to hear that nothing has arrived that was not told of.
    private boolean catchingUp;

    private @Nullable Operation writing;
    private @Nullable OutputQueue queue;

    /// How much of a file the write under way was asked to send; zero if it sends memory.
    private long fileBytes;

    /// Whether the kernel, which had no memory for output, is left alone.
    private boolean resting;

    private boolean closed;

    SocketTransport(Streams streams, OpenDescriptor socket) {
        loop = streams.loop();
        operations = streams.operations();
        this.socket = socket;
        receive = operations.pools().receiving().of(socket, this::received);
        hangup = new HangupWatch(this, operations);
        operations.atTickEnd(hangup); // Arms it unless a receive has started by then.
    }

    @Override
    public void serve(User user) {
        this.user = user;
    }

    User user() {
        User known = user;
        assert known != null : "nobody to tell";
        return known;
    }

    // ------------------------------------------------------------------ input

    @Override
    public void read(boolean wanted) {
        this.wanted = wanted;
        if (wanted && receiving == Receiving.STOPPED && !closed) {
            receive();
            if (catchingUp) {
                stopToLook();
            }
        } else if (!wanted && receiving == Receiving.RECEIVING) {
            stopToLook();
        }
    }

    private void receive() {
        receiving = Receiving.RECEIVING;
        receive.start();
    }

    /// While a receive is under way the kernel may have bytes in hand that are in the socket no longer and
    /// nobody was told of. When it has stopped, what has arrived is in the socket, where one can see it.
    private void stopToLook() {
        receiving = Receiving.STOPPING;
        receive.cancel();
    }

    @Override
    public void catchUp() {
        catchingUp = true;
        if (receiving == Receiving.RECEIVING && !closed) {
            stopToLook();
        }
    }

    /// Goes on after a receive that has stopped.
    private void receiveOn() {
        boolean caughtUp = catchingUp && isDrained();
        receive();
        if (caughtUp) {
            catchingUp = false;
            user().onCaughtUp();
        }
    }

    /// Whether neither bytes nor an end nor an error is to be received.
    private boolean isDrained() {
        return socket.use(fd -> operations.seam().sockets().get().pollOne(fd, Linux.POLLIN)) == 0;
    }

    private void received(ReceiveOperation done) {
        long result = done.result();
        boolean stoppedHere = receiving == Receiving.STOPPING;
        if (!done.hasMore()) {
            receiving = Receiving.STOPPED;
        }
        if (closed) {
            releaseIfThrough();
            return;
        }
        if (result > 0) {
            user().onReceived((NativeBuffer) done.received());
        } else if (result == 0) {
            wanted = false;
            hangup.inputEnded();
            user().onInputEnded();
        } else if (isShortage(result)) {
            afterShortage(() -> read(wanted));
            return;
        } else if (!done.isCancelled()) {
            wanted = false;
            fail(done);
        } else if (wanted && !stoppedHere && operations.isEnding()) {
            wanted = false;
            user().onLoopEnding();
        }
        if (wanted && receiving == Receiving.STOPPED) {
            receiveOn();
        } else if (wanted && catchingUp && receiving == Receiving.RECEIVING) {
            stopToLook();
        }
        if (!wanted && receiving == Receiving.STOPPED) {
            operations.atTickEnd(hangup);
        }
    }

    /// Whether nothing is received, and nothing is to be.
    boolean isIdle() {
        return !closed && !wanted && receiving == Receiving.STOPPED;
    }

    boolean isReceiving() {
        return receiving != Receiving.STOPPED;
    }

    /// Fails after the peer was found gone while nothing was received.
    void peerLost(SystemCallException failure) {
        wanted = false;
        user().onFailed(reasonOf(failure), failure);
    }

    // ------------------------------------------------------------------ output

    @Override
    public void flush(OutputQueue queue) {
        if (writing != null || resting || closed || queue.isEmpty()) {
            return;
        }
        this.queue = queue;
        FilePart file = queue.filePart();
        fileBytes = file == null ? 0 : Math.min(file.left(), FILE_BYTES_AT_ONCE);
        LoopOperation write = file == null ? writeMemory(queue) : sendFile(file);
        write.onProgress(onProgress);
        try {
            write.start();
            writing = write;
        } catch (RuntimeException e) {
            // A file that was closed before its turn came.
            atTickEndUnlessClosed(() -> user().onFailed(CloseReason.FAILED, e));
        }
    }

    private LoopOperation writeMemory(OutputQueue queue) {
        NativeBuffer first = queue.memory(0);
        assert first != null : "neither memory nor a file";
        first.endLoan(); // Lent memory is the operation's now.
        NativeBuffer next = queue.memory(1);
        if (next == null) {
            BufferOperation write =
                    operations.pools().buffered().of(Opcode.WRITE, socket, first, onWritten);
            return queue.isFollowedByFile() ? write.moreFollows() : write;
        }
        VectorOperation gather = operations.pools().vectored().gather(socket, onWritten);
        gather.add(first);
        for (int i = 1; next != null && i < PIECES_AT_ONCE; i++) {
            next.endLoan();
            gather.add(next);
            next = queue.memory(i + 1);
        }
        return gather;
    }

    private LoopOperation sendFile(FilePart part) {
        return operations
                .pools()
                .bufferless()
                .move(Opcode.SEND_FILE, socket, part.file, part.offset(), fileBytes, onWritten);
    }

    @Override
    public long partlySent() {
        Operation known = writing;
        return known == null ? 0 : known.transferred();
    }

    private void progressed() {
        User known = user;
        if (known != null) {
            known.onProgress();
        }
    }

    private void written(Operation done) {
        writing = null;
        OutputQueue from = queue;
        assert from != null : "written from nowhere";
        long bytes = done.transferred();
        boolean isShort = isShortage(done.result());
        boolean failed = done.result() < 0 && !isShort;
        boolean fileEnded = fileBytes > 0 && !failed && !isShort && bytes < fileBytes;
        SystemCallException failure = failed ? done.failure() : null;
        done.release();
        if (closed) {
            releaseIfThrough();
            return;
        }
        from.taken(bytes);
        if (fileEnded) {
            from.endFile(); // It is shorter than was said.
        }
        if (failure != null) {
            user().onFailed(reasonOf(failure), failure);
        } else if (failed) {
            user().onFailed(CloseReason.LOOP_ENDED, null); // Nobody else cancels it.
        } else if (isShort) {
            rest(from);
            if (bytes > 0) {
                user().onSent(bytes); // The shortage came in the middle.
            }
        } else {
            user().onSent(bytes);
        }
    }

    private void rest(OutputQueue from) {
        resting = true;
        afterShortage(
                () -> {
                    resting = false;
                    flush(from);
                });
    }

    @Override
    public void endOutput() {
        hangup.outputEnded();
        int result =
                socket.use(fd -> operations.seam().sockets().get().shutdown(fd, Linux.SHUT_WR));
        if (result < 0) {
            // The peer is gone already, which reading will tell if it has not.
            SystemCallException failure =
                    new SystemCallException("shutdown", -result, SystemCallException.NO_FD);
            atTickEndUnlessClosed(() -> user().onFailed(reasonOf(failure), failure));
        } else {
            atTickEndUnlessClosed(() -> user().onOutputEnded());
        }
    }

    /// Nobody is told of anything inside a call of its own.
    private void atTickEndUnlessClosed(Runnable news) {
        operations.atTickEnd(
                () -> {
                    if (!closed) {
                        news.run();
                    }
                });
    }

    // ------------------------------------------------------------------ the end

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        wanted = false;
        if (reset) {
            SocketSettings.resetOnClose(operations.seam(), socket);
        }
        socket.close(); // Cancels what is under way, which completes before the number is given
        // back.
        operations.atTickEnd(this::releaseIfThrough);
    }

    /// Throws away what has arrived and nobody will read. Closed before, the kernel would reset the connection, and
    /// with it destroy what the peer has not read yet. What arrives later still does that: nobody waits for it here.
    void dropUnread() {
        NativeBuffer room = closed ? null : operations.pool().acquire(DROP_BYTES);
        if (room == null) {
            return;
        }
        SocketCalls calls = operations.seam().sockets().get();
        long into = room.writeAddress();
        for (int left = MOST_DROPS; left > 0; left--) {
            int dropped = socket.use(fd -> (int) calls.recv(fd, into, DROP_BYTES, 0));
            if (dropped <= 0 && dropped != -Errno.EINTR) {
                break;
            }
        }
        room.release();
    }

    boolean isClosed() {
        return closed;
    }

    /// After `close`: releases the operations once none of them is in flight.
    void releaseIfThrough() {
        User known = user;
        if (!isReceiving() && writing == null && !hangup.isArmed() && known != null) {
            user = null;
            receive.release();
            hangup.release();
            known.onReleased();
        }
    }

    /// Whether the kernel is out of memory just now, which is no fault of this connection.
    static boolean isShortage(long result) {
        return result == -Errno.ENOBUFS || result == -Errno.ENOMEM;
    }

    /// Retries when the kernel may have memory again.
    void afterShortage(Runnable retry) {
        loop.after(BREATHER, _ -> retry.run()).unreference();
    }

    void fail(Operation done) {
        SystemCallException failure = done.failure();
        assert failure != null : "neither failed nor cancelled";
        user().onFailed(reasonOf(failure), failure);
    }

    SocketAddress local() {
        return NativeSockets.localAddress(operations.seam(), socket);
    }

    private static CloseReason reasonOf(SystemCallException failure) {
        return switch (failure.errno()) {
            case Errno.ECONNRESET, Errno.EPIPE, Errno.ENOTCONN, Errno.ECONNABORTED ->
                    CloseReason.RESET;
            default -> CloseReason.FAILED;
        };
    }
}
