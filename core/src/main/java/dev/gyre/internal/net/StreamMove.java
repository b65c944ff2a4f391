package dev.gyre.internal.net;

import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Moves a connection to another loop: clause G-4.
///
/// ```
///     on the old loop                                      on the target
///     stop ──▶ stopped ──▶ detach memory ──▶ hand over ──▶ arrive ──▶ finish
///      flush    no op.      later tick,       later tick,   priority   microtask:
///      step     in flight   no flush due      after lent    lane       callback, resume
///                                             buffers
/// ```
///
/// If the connection closes before the hand-over, the move ends without effect. The task in the
/// target's lane publishes all state to the target's thread.
final class StreamMove {
    private final Connection connection;
    private final Loop from;
    private final Loop target;
    private final Consumer<? super Stream> moved;

    // One thread at a time: first that of the old loop, then that of the target.
    private boolean detachScheduled;

    /// Counts the move; null if none, and after the arrival.
    private @Nullable ListenerSlot countedBy;

    StreamMove(Connection connection, Loop target, Consumer<? super Stream> moved) {
        this.connection = connection;
        from = connection.streams.loop();
        this.target = target;
        this.moved = moved;
    }

    /// Counts the move until it ends. Only moves between running loops count.
    private void count(LoopListener listener) {
        countedBy = listener.slot;
        long _ = countedBy.add(ListenerSlot.MOVING, 1);
    }

    /// The connection has arrived or is closed.
    void uncount() {
        if (countedBy != null) {
            long _ = countedBy.add(ListenerSlot.MOVING, -1);
            countedBy = null;
        }
    }

    /// Starts a move, or throws and changes nothing.
    static void start(Connection connection, Loop target, Consumer<? super Stream> moved) {
        requireMovable(connection);
        if (target == connection.streams.loop()) {
            connection.streams.notifyLater(() -> callMoved(connection, moved));
            return;
        }
        requireTarget(connection, target);
        if (!isAllowed(connection, target)) {
            throw new IllegalStateException(
                    "cannot move %s: %s does not allow it now"
                            .formatted(connection, connection.input.protocol()));
        }
        requireMovable(connection); // The protocol may have closed it.
        begin(connection, target, moved, null);
    }

    /// Starts a move of a connection for which the loop is too busy.
    ///
    /// @return false if the connection cannot move now
    static boolean tryStart(Connection connection, Loop target) {
        if (problem(connection) != null || target.isShuttingDown()) {
            return false;
        }
        try {
            if (!isAllowed(connection, target) || problem(connection) != null) {
                return false;
            }
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
        begin(connection, target, _ -> {}, connection.acceptedBy());
        return true;
    }

    private static boolean isAllowed(Connection connection, Loop target) {
        Protocol current = connection.input.protocol();
        return current == null || current.beforeMove(connection.stream, target);
    }

    /// @param counting the listener that counts the move; null if none
    private static void begin(
            Connection connection,
            Loop target,
            Consumer<? super Stream> moved,
            @Nullable LoopListener counting) {
        StreamProcessing.prepareMove(connection.stream.processing);
        StreamMove move =
                new StreamMove(
                        connection,
                        target,
                        stream -> {
                            Protocol protocol = connection.input.protocol();
                            if (protocol != null) {
                                protocol.onMoved(stream);
                            }
                            if (stream.isOpen()) {
                                moved.accept(stream);
                            }
                        });
        IllegalStateException reason =
                new IllegalStateException(
                        connection + " moves to " + target + ": call inputDelivered() there");
        if (counting != null) {
            move.count(counting);
        }
        try {
            connection.beginMove(move, reason);
        } catch (Throwable e) {
            move.uncount();
            throw e;
        }
    }

    /// Returns why the connection cannot move; null if it can.
    private static @Nullable String problem(Connection connection) {
        if (connection.lifecycle.isClosed()) {
            return "it is closed: " + connection.lifecycle.reason();
        } else if (!connection.isOpen()) {
            return "it is closing";
        } else if (connection.isMoving()) {
            return "it is moving";
        } else if (connection.lifecycle.isPiped()) {
            return "it belongs to a pipe";
        } else if (connection.input.hasPendingRead()) {
            return "a read() is pending: wait for it first";
        } else if (StreamProcessing.isBusy(connection.stream.processing)) {
            return "it is processing: wait for the promise of process() first";
        } else if (connection.isTlsBusy()) {
            return "its TLS handshake is not complete: wait for it first";
        }
        return null;
    }

    private static void requireMovable(Connection connection) {
        String problem = problem(connection);
        if (problem != null) {
            throw new IllegalStateException("cannot move " + connection + ": " + problem);
        }
    }

    private static void requireTarget(Connection connection, Loop target) {
        if (target.isShuttingDown()) {
            throw new LoopTerminatedException(
                    "cannot move " + connection + " to " + target + ": that loop is terminating");
        }
        if (target.operations().syscalls().limit()
                != connection.streams.operations().syscalls().limit()) {
            throw new IllegalArgumentException(
                    "cannot move "
                            + connection
                            + " to "
                            + target
                            + ": only one of them is simulated, or their simulated worlds differ");
        }
    }

    /// Copies readable bytes into memory that belongs to no loop.
    static NativeBuffer copyOf(NativeBuffer pooled) {
        int bytes = pooled.readable();
        NativeBuffer copy = NativeBuffer.allocate(Math.max(1, bytes));
        int _ = copy.transferFrom(pooled, bytes);
        return copy;
    }

    void stop() {
        if (isUnderWay()) {
            connection.socket.stop();
        }
    }

    /// No operation is in flight. Microtasks and the flush step may still have work.
    void stopped() {
        if (!detachScheduled) {
            detachScheduled = true;
            from.defer(this::detachMemory);
        }
    }

    private void detachMemory() {
        detachScheduled = false;
        if (!isUnderWay()) {
            return;
        }
        if (connection.output.isFlushScheduled()) {
            stopped();
        } else if (connection.transport().isStopped()) {
            detachScheduled = true;
            connection.detachMemory();
            from.defer(this::handOver);
        }
    }

    /// False after the connection was closed during the move.
    private boolean isUnderWay() {
        return connection.isMoving();
    }

    private void handOver() {
        if (!isUnderWay()) {
            return;
        }
        InternalTask arrival = new InternalTask(this::arrive); // First: it may throw.
        connection.leave();
        boolean submitted = false;
        try {
            submitted = target.trySubmitPriority(arrival);
        } finally {
            if (!submitted) {
                arriveOn(Streams.ofArrival(from)); // Closing it uncounts it.
                connection.lifecycle.close(
                        CloseReason.LOOP_ENDED,
                        new LoopTerminatedException(
                                target + " terminated before " + connection + " arrived"));
            }
        }
    }

    /// Closes the connection if its arrival fails. Its previous transport no longer can.
    private void arriveOn(Streams to) {
        try {
            connection.arrive(to);
        } catch (Throwable e) {
            connection.socket.socket.close();
            connection.lifecycle.close(CloseReason.ABORTED, e);
            throw e;
        }
    }

    private void arrive() {
        Streams to = Streams.ofArrival(target);
        arriveOn(to);
        uncount();
        if (to.isClosed()) {
            connection.lifecycle.close(CloseReason.LOOP_ENDED, null);
        } else if (target.state() != LoopState.TERMINATED) {
            to.notifyLater(this::finish);
        } // Else the loop is about to close its streams.
    }

    private void finish() {
        if (connection.isMoving() && !connection.streams.isClosed()) {
            connection.endMove(() -> callMoved(connection, moved));
        }
    }

    /// Closes a connection that may be on another loop, or on its way there. Any thread.
    static void abort(Connection connection) {
        Streams at = connection.requestAbort();
        if (at != null) {
            at.operations()
                    .onLoop(
                            () -> {
                                if (connection.isOwnedBy(at)) {
                                    connection.lifecycle.close(CloseReason.ABORTED, null);
                                }
                            });
        }
    }

    private static void callMoved(Connection connection, Consumer<? super Stream> moved) {
        try {
            if (connection.isOpen()) {
                moved.accept(connection.stream);
            }
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
    }

    /// The exception of a method that is called while the stream moves.
    static RuntimeException exception(Connection connection, String method) {
        StreamMove move = connection.move();
        return move == null
                ? new WrongThreadException(method + " is confined to " + connection.loop())
                : new IllegalStateException(
                        ("cannot call %s: %s is moving from loop %s to loop %s. Call it on the"
                                        + " target loop, from the moveTo callback or later")
                                .formatted(
                                        method,
                                        connection,
                                        move.from.config().name(),
                                        move.target.config().name()));
    }
}
