package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.io.BufferOperation;
import dev.gyre.internal.io.LoopOperation;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.LoopReceiveOperation;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.io.VectorOperation;
import dev.gyre.internal.net.OutputQueue.FilePart;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.io.CloseReason;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// A connected socket. It receives into buffers of the loop, and holds one only while it contains
/// bytes. At most one write is in flight.
///
/// ```
///               setReading(true)             setReading(false)
///     STOPPED ───────────────▶ RECEIVING ───────────────────▶ STOPPING
///        ▲                        │   ▲                          │
///        └────────────────────────┘   └──── cancelled, and ──────┤
///           end, error                      still wanted         │
///        ▲                                                       │
///        └───────────────────── cancelled ───────────────────────┘
/// ```
///
/// A cancelled receive must complete before the next one starts. It may hold bytes that the next
/// one would overtake.
///
/// A stopped transport is never used again. The socket gets another one on its next loop.
///
/// Loop thread only.
final class SocketTransport implements Transport {
    /// Limits one write, so that other connections are served and progress is visible on slow ones.
    private static final int MAX_PIECES = 16;

    private static final long MAX_FILE_BYTES = 1 << 20;

    private enum Receiving {
        STOPPED,
        RECEIVING,
        STOPPING
    }

    private static final Duration SHORTAGE_DELAY = Duration.ofMillis(20);

    private final EventLoop loop;
    private final LoopOperations operations;
    final OpenDescriptor socket;
    private final LoopReceiveOperation receive;
    private final HangupWatch hangup;
    private final Consumer<Operation> onWritten = this::written;
    private final Runnable onProgress = this::progressed;

    private @Nullable Handler handler;
    private Receiving receiving = Receiving.STOPPED;
    private boolean wanted;

    /// Whether [#requestInputBarrier()] waits for the socket to be empty.
    private boolean barrierPending;

    private @Nullable Operation writing;
    private @Nullable OutputQueue queue;

    /// The requested length of the file range in flight; zero if memory is in flight.
    private long fileBytes;

    /// Whether output waits for kernel memory.
    private boolean outputSuspended;

    /// False once closed or stopped.
    private boolean active = true;

    private boolean closed;

    /// How many notifications of [#laterUnlessClosed] are pending.
    private int notices;

    /// @param before the transport of the same socket on the previous loop; null for a new socket
    SocketTransport(Streams streams, OpenDescriptor socket, @Nullable SocketTransport before) {
        loop = streams.loop();
        operations = streams.operations();
        this.socket = socket;
        receive = operations.pools().receiving.acquire().of(socket, this::received);
        hangup = new HangupWatch(this, operations, before == null ? null : before.hangup);
        operations.beforeFlush(hangup); // Arms it unless a receive starts before.
    }

    @Override
    public void setHandler(Handler handler) {
        this.handler = handler;
    }

    Handler handler() {
        Handler known = handler;
        assert known != null : "no handler";
        return known;
    }

    @Override
    public void setReading(boolean wanted) {
        this.wanted = wanted;
        if (wanted && receiving == Receiving.STOPPED && active) {
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

    /// A receive in flight may hold bytes that are neither in the socket nor reported. Once it is
    /// cancelled, all remaining input is in the socket, where a poll sees it.
    private void cancelReceive() {
        receiving = Receiving.STOPPING;
        receive.cancel();
    }

    @Override
    public void requestInputBarrier() {
        barrierPending = true;
        if (receiving == Receiving.RECEIVING && active) {
            cancelReceive();
        }
    }

    private void resumeReceive() {
        boolean inputDelivered = barrierPending && isSocketEmpty();
        receive();
        if (inputDelivered) {
            barrierPending = false;
            handler().onInputBarrier();
        }
    }

    /// Whether no bytes, end or error are pending.
    private boolean isSocketEmpty() {
        return socket.use(fd -> operations.syscalls().sockets().get().pollOne(fd, Linux.POLLIN))
                == 0;
    }

    private void received(ReceiveOperation done) {
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
            operations.beforeFlush(hangup);
            return;
        } else if (!done.isCancelled()) {
            wanted = false;
            fail(done);
        } else if (wanted && !stoppedHere && operations.isShuttingDown()) {
            wanted = false;
            handler().onShutdown();
        }
        if (wanted && receiving == Receiving.STOPPED) {
            resumeReceive();
        } else if (wanted && barrierPending && receiving == Receiving.RECEIVING) {
            cancelReceive();
        }
        if (!wanted && receiving == Receiving.STOPPED) {
            operations.beforeFlush(hangup);
        }
    }

    boolean isIdle() {
        return active && !wanted && receiving == Receiving.STOPPED;
    }

    boolean isReceiving() {
        return receiving != Receiving.STOPPED;
    }

    /// Reports that the peer is gone, when no receive is in flight.
    void peerLost(SystemCallException failure) {
        wanted = false;
        handler().onFailed(reasonOf(failure), failure);
    }

    @Override
    public void flush(OutputQueue queue) {
        if (writing != null || outputSuspended || !active || queue.isEmpty()) {
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
            // The file was closed before it was sent.
            laterUnlessClosed(() -> handler().onFailed(CloseReason.FAILED, e));
        }
    }

    private LoopOperation writeMemory(OutputQueue queue) {
        NativeBuffer first = queue.memory(0);
        assert first != null : "the queue has no memory";
        first.endLoan(); // The operation owns lent memory from here.
        NativeBuffer next = queue.memory(1);
        if (next == null) {
            BufferOperation write =
                    operations
                            .pools()
                            .buffered
                            .acquire()
                            .of(Opcode.WRITE, socket, first, onWritten);
            return queue.isFollowedByFile() ? write.moreFollows() : write;
        }
        VectorOperation gather = operations.pools().vectored.acquire().gather(socket, onWritten);
        gather.add(first);
        for (int i = 1; next != null && i < MAX_PIECES; i++) {
            next.endLoan();
            gather.add(next);
            next = queue.memory(i + 1);
        }
        return gather;
    }

    private LoopOperation sendFile(FilePart part) {
        return operations
                .pools()
                .bufferless
                .acquire()
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
        assert from != null : "completed without a queue";
        long bytes = done.transferred();
        boolean isShort = isShortage(done.result());
        boolean failed = done.result() < 0 && !isShort;
        boolean fileEnded = fileBytes > 0 && !failed && !isShort && bytes < fileBytes;
        SystemCallException failure = failed ? done.failure() : null;
        done.release();
        if (!active) {
            if (closed) {
                releaseIfIdle();
                return;
            }
            operations.beforeFlush(hangup); // Reports the stop.
        }
        from.consumed(bytes);
        if (fileEnded) {
            from.endFile(); // The file is shorter than requested.
        }
        if (failure != null) {
            handler().onFailed(reasonOf(failure), failure);
        } else if (failed && active) {
            handler().onFailed(CloseReason.LOOP_ENDED, null); // The loop has cancelled the write.
        } else if (isShort) {
            suspendOutput(from);
            if (bytes > 0) {
                handler().onSent(bytes); // The shortage interrupted the write.
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
                socket.use(fd -> operations.syscalls().sockets().get().shutdown(fd, Linux.SHUT_WR));
        if (result < 0) {
            // The peer is gone, which a receive may have reported already.
            SystemCallException failure =
                    new SystemCallException("shutdown", -result, SystemCallException.NO_FD);
            laterUnlessClosed(() -> handler().onFailed(reasonOf(failure), failure));
        } else {
            laterUnlessClosed(() -> handler().onOutputEnded());
        }
    }

    /// The handler is never called inside a call of its own.
    private void laterUnlessClosed(Runnable news) {
        notices++;
        operations.beforeFlush(
                () -> {
                    notices--;
                    if (!closed) {
                        news.run();
                        operations.beforeFlush(hangup);
                    }
                });
    }

    /// Stops all I/O without closing, for a move to another loop. Input and output that operations
    /// in flight transfer meanwhile are reported. [Handler#onStopped()] follows them.
    void stop() {
        active = false;
        wanted = false;
        if (receiving == Receiving.RECEIVING) {
            cancelReceive();
        }
        if (writing != null) {
            boolean _ = writing.cancel(); // The part that was sent is consumed.
        }
        hangup.cancel();
        operations.beforeFlush(hangup);
    }

    @Override
    public boolean isStopped() {
        return !active && !closed && isUnused() && notices == 0;
    }

    void reportIfStopped() {
        if (isStopped()) {
            handler().onStopped();
        }
    }

    /// Releases the operations of a stopped socket. The socket stays open.
    void detach() {
        closed = true;
        releaseOperations();
        operations.endLease(socket);
    }

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        active = false;
        wanted = false;
        if (reset) {
            SocketOption.resetOnClose(operations.syscalls(), socket);
        }
        socket.close(); // Cancels operations in flight. They complete before the fd is reused.
        operations.beforeFlush(this::releaseIfIdle);
    }

    boolean isActive() {
        return active;
    }

    /// After `close`: releases the operations once none of them is in flight.
    void releaseIfIdle() {
        Handler known = handler;
        if (closed && isUnused() && known != null) {
            releaseOperations();
            known.onReleased();
        }
    }

    private boolean isUnused() {
        return !isReceiving() && writing == null && !hangup.isArmed();
    }

    private void releaseOperations() {
        handler = null;
        receive.release();
        hangup.release();
    }

    static boolean isShortage(long result) {
        return result == -Errno.ENOBUFS || result == -Errno.ENOMEM;
    }

    void retryAfterShortage(Runnable retry) {
        loop.after(SHORTAGE_DELAY, _ -> retry.run()).unreference();
    }

    void fail(Operation done) {
        SystemCallException failure = done.failure();
        assert failure != null : "neither failed nor cancelled";
        handler().onFailed(reasonOf(failure), failure);
    }

    SocketAddress local() {
        return NativeSockets.localAddress(operations.syscalls(), socket);
    }

    private static CloseReason reasonOf(SystemCallException failure) {
        return switch (failure.errno()) {
            case Errno.ECONNRESET, Errno.EPIPE, Errno.ENOTCONN, Errno.ECONNABORTED ->
                    CloseReason.RESET;
            default -> CloseReason.FAILED;
        };
    }
}
