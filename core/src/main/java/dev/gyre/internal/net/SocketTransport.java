package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.BufferOperation;
import dev.gyre.internal.io.LoopOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.ReceiveOperation;
import dev.gyre.internal.io.SocketNames;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.io.VectorOperation;
import dev.gyre.internal.net.OutputQueue.FilePart;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Operation;
import dev.gyre.io.Receive;

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
    private static final int MAX_PIECES = 16;

    private static final long MAX_FILE_BYTES = 1 << 20;

    private enum Receiving {
        STOPPED,
        RECEIVING,
        STOPPING
    }

    /// How long a kernel without memory is left alone.
    private static final Duration SHORTAGE_DELAY = Duration.ofMillis(20);

    /// As much is thrown away at the end: more than a kernel holds for one connection, unless it is told to.
    private static final int MAX_DISCARDS = 256;

    private static final int DISCARD_BYTES = 1 << 16;

    private final EventLoop loop;
    private final LoopOperations operations;
    final OpenDescriptor socket;
    private final ReceiveOperation receive;
    private final HangupWatch hangup;
    private final Consumer<Operation> onWritten = this::written;
    private final Runnable onProgress = this::progressed;

    private @Nullable Handler handler;
    private Receiving receiving = Receiving.STOPPED;
    private boolean wanted;

    /// Whether somebody waits to hear that nothing has arrived that was not told of.
    private boolean barrierPending;

    private @Nullable Operation writing;
    private @Nullable OutputQueue queue;

    /// How much of a file the write under way was asked to send; zero if it sends memory.
    private long fileBytes;

    /// Whether the kernel, which had no memory for output, is left alone.
    private boolean outputSuspended;

    private boolean closed;

    SocketTransport(Streams streams, OpenDescriptor socket) {
        loop = streams.loop();
        operations = streams.operations();
        this.socket = socket;
        receive = operations.pools().receiving().of(socket, this::received);
        hangup = new HangupWatch(this, operations);
        operations.atTurnEnd(hangup); // Arms it unless a receive has started by then.
    }

    @Override
    public void setHandler(Handler user) {
        this.handler = user;
    }

    Handler handler() {
        Handler known = handler;
        assert known != null : "nobody to tell";
        return known;
    }

    // ------------------------------------------------------------------ input

    @Override
    public void setReading(boolean wanted) {
        this.wanted = wanted;
        if (wanted && receiving == Receiving.STOPPED && !closed) {
            receive();
            if (barrierPending) {
                cancelReceive();
            }
        } else if (!wanted && receiving == Receiving.RECEIVING) {
            cancelReceive();
        }
    }

    private void receive() {
        receiving = Receiving.RECEIVING;
        receive.start();
    }

    /// While a receive is under way the kernel may have bytes in hand that are in the socket no longer and
    /// nobody was told of. When it has stopped, what has arrived is in the socket, where one can see it.
    private void cancelReceive() {
        receiving = Receiving.STOPPING;
        receive.cancel();
    }

    @Override
    public void requestInputBarrier() {
        barrierPending = true;
        if (receiving == Receiving.RECEIVING && !closed) {
            cancelReceive();
        }
    }

    /// Goes on after a receive that has stopped.
    private void resumeReceive() {
        boolean caughtUp = barrierPending && isSocketEmpty();
        receive();
        if (caughtUp) {
            barrierPending = false;
            handler().onInputBarrier();
        }
    }

    /// Whether neither bytes nor an end nor an error is to be received.
    private boolean isSocketEmpty() {
        return socket.use(fd -> operations.seam().sockets().get().pollOne(fd, Linux.POLLIN)) == 0;
    }

    private void received(Receive done) {
        long result = done.result();
        boolean stoppedHere = receiving == Receiving.STOPPING;
        if (!done.hasMore()) {
            receiving = Receiving.STOPPED;
        }
        if (closed) {
            releaseIfIdle();
            return;
        }
        if (result > 0) {
            handler().onReceived((NativeBuffer) done.received());
        } else if (result == 0) {
            wanted = false;
            hangup.inputEnded();
            handler().onInputEnded();
        } else if (isShortage(result)) {
            retryAfterShortage(() -> setReading(wanted));
            return;
        } else if (!done.isCancelled()) {
            wanted = false;
            fail(done);
        } else if (wanted && !stoppedHere && operations.isEnding()) {
            wanted = false;
            handler().onShutdown();
        }
        if (wanted && receiving == Receiving.STOPPED) {
            resumeReceive();
        } else if (wanted && barrierPending && receiving == Receiving.RECEIVING) {
            cancelReceive();
        }
        if (!wanted && receiving == Receiving.STOPPED) {
            operations.atTurnEnd(hangup);
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
        handler().onFailed(reasonOf(failure), failure);
    }

    // ------------------------------------------------------------------ output

    @Override
    public void flush(OutputQueue queue) {
        if (writing != null || outputSuspended || closed || queue.isEmpty()) {
            return;
        }
        this.queue = queue;
        FilePart file = queue.filePart();
        fileBytes = file == null ? 0 : Math.min(file.left(), MAX_FILE_BYTES);
        LoopOperation write = file == null ? writeMemory(queue) : sendFile(file);
        write.onProgress(onProgress);
        try {
            write.start();
            writing = write;
        } catch (RuntimeException e) {
            // A file that was closed before its turn came.
            laterUnlessClosed(() -> handler().onFailed(CloseReason.FAILED, e));
        }
    }

    private LoopOperation writeMemory(OutputQueue queue) {
        NativeBuffer first = queue.memory(0);
        assert first != null : "neither memory nor a file";
        first.takeBack(); // Lent memory is the operation's now.
        NativeBuffer next = queue.memory(1);
        if (next == null) {
            BufferOperation write =
                    operations.pools().buffered().of(Opcode.WRITE, socket, first, onWritten);
            return queue.isFollowedByFile() ? write.moreFollows() : write;
        }
        VectorOperation gather = operations.pools().vectored().gather(socket, onWritten);
        gather.add(first);
        for (int i = 1; next != null && i < MAX_PIECES; i++) {
            next.takeBack();
            gather.add(next);
            next = queue.memory(i + 1);
        }
        return gather;
    }

    private LoopOperation sendFile(FilePart part) {
        return operations
                .pools()
                .plain()
                .move(Opcode.SEND_FILE, socket, part.file, part.offset(), fileBytes, onWritten);
    }

    @Override
    public long partiallySent() {
        Operation known = writing;
        return known == null ? 0 : known.transferred();
    }

    private void progressed() {
        Handler known = handler;
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
            releaseIfIdle();
            return;
        }
        from.consumed(bytes);
        if (fileEnded) {
            from.endFile(); // It is shorter than was said.
        }
        if (failure != null) {
            handler().onFailed(reasonOf(failure), failure);
        } else if (failed) {
            handler().onFailed(CloseReason.LOOP_ENDED, null); // Nobody else cancels it.
        } else if (isShort) {
            suspendOutput(from);
            if (bytes > 0) {
                handler().onSent(bytes); // The shortage came in the middle.
            }
        } else {
            handler().onSent(bytes);
        }
    }

    private void suspendOutput(OutputQueue from) {
        outputSuspended = true;
        retryAfterShortage(
                () -> {
                    outputSuspended = false;
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
            laterUnlessClosed(() -> handler().onFailed(reasonOf(failure), failure));
        } else {
            laterUnlessClosed(() -> handler().onOutputEnded());
        }
    }

    /// Nobody is told of anything inside a call of its own.
    private void laterUnlessClosed(Runnable news) {
        operations.atTurnEnd(
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
            SocketOption.resetOnClose(operations.seam(), socket);
        }
        socket.close(); // Cancels what is under way, which completes before the number is given
        // back.
        operations.atTurnEnd(this::releaseIfIdle);
    }

    /// Throws away what has arrived and nobody will read. Closed before, the kernel would reset the connection, and
    /// with it destroy what the peer has not read yet. What arrives later still does that: nobody waits for it here.
    void discardUnread() {
        NativeBuffer room = closed ? null : operations.pool().take(DISCARD_BYTES);
        if (room == null) {
            return;
        }
        SocketCalls calls = operations.seam().sockets().get();
        long into = room.writingAddress();
        for (int left = MAX_DISCARDS; left > 0; left--) {
            int dropped = socket.use(fd -> (int) calls.recv(fd, into, DISCARD_BYTES, 0));
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
    void releaseIfIdle() {
        Handler known = handler;
        if (!isReceiving() && writing == null && !hangup.isArmed() && known != null) {
            handler = null;
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
    void retryAfterShortage(Runnable retry) {
        loop.after(SHORTAGE_DELAY, _ -> retry.run()).unreference();
    }

    void fail(Operation done) {
        SystemCallException failure = done.failure();
        assert failure != null : "neither failed nor cancelled";
        handler().onFailed(reasonOf(failure), failure);
    }

    SocketAddress local() {
        return SocketNames.local(operations.seam(), socket);
    }

    private static CloseReason reasonOf(SystemCallException failure) {
        return switch (failure.errno()) {
            case Errno.ECONNRESET, Errno.EPIPE, Errno.ENOTCONN, Errno.ECONNABORTED ->
                    CloseReason.RESET;
            default -> CloseReason.FAILED;
        };
    }
}
