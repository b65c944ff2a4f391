package dev.gyre.internal.net;

import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.io.DrainReport;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;

/// The part of a listener that outlives its loop: the counts, the limit, and in a group the
/// listening socket. The loop that replaces a failed one continues with the slot of the failed one.
final class ListenerSlot {
    /// Limits connections handed to a loop but not yet received. At the limit the connection goes
    /// to another loop.
    private static final int MAX_IN_FLIGHT = 1_024;

    /// Two cache lines on either side of the counts: no loop writes a line of another one's slot.
    private static final int FIRST_COUNT = 16;

    private static final int COUNTS = 6;
    static final int ACCEPTED = FIRST_COUNT;
    static final int REFUSED = FIRST_COUNT + 1;
    static final int SHED = FIRST_COUNT + 2;
    static final int CONNECTIONS = FIRST_COUNT + 3;

    /// Connections that rebalancing moves to another loop. They count here until they arrive.
    static final int MOVING = FIRST_COUNT + 4;

    private static final int IN_FLIGHT = FIRST_COUNT + 5;

    final ConnectionLimit limit;

    /// The index of the loop in its group.
    final int index;

    /// Null if the listener belongs to a single loop.
    final @Nullable LoopGroupListener group;

    /// The socket from which the loop's duplicate is made; null if the loop owns its socket.
    final @Nullable OpenDescriptor socket;

    // Shared: written by the loop thread, and by a loop that hands over a connection.
    private final AtomicLongArray counts = new AtomicLongArray(FIRST_COUNT + COUNTS + FIRST_COUNT);

    // Shared: written by the loop thread, read by the loop that hands over.
    volatile boolean lowMemory;

    // Shared: connections that count here and are on another loop, or on their way there.
    final Set<Connection> movedAway = ConcurrentHashMap.newKeySet();

    // Shared: written when a loop starts, read by any thread.
    volatile @Nullable LoopListener listener;

    ListenerSlot(
            ConnectionLimit limit,
            int index,
            @Nullable LoopGroupListener group,
            @Nullable OpenDescriptor socket) {
        this.limit = limit;
        this.index = index;
        this.group = group;
        this.socket = socket;
    }

    /// Adds to a count, and returns the sum. Any thread.
    long add(int count, long amount) {
        return counts.addAndGet(count, amount);
    }

    long get(int count) {
        return counts.get(count);
    }

    int connections() {
        return (int) get(CONNECTIONS);
    }

    /// Returns the listener on the current loop of this slot, once one is open.
    LoopListener current() {
        return Objects.requireNonNull(listener);
    }

    /// Drains a listener of this slot. If its loop terminates meanwhile, the open connections count
    /// as reset. Any thread.
    CompletableFuture<DrainReport> drain(LoopListener draining, Duration deadline) {
        CompletableFuture<DrainReport> result = new CompletableFuture<>();
        int open = connections();
        Runnable task =
                () -> {
                    if (draining.loop().state() != LoopState.TERMINATED) {
                        Promise<?> _ = draining.drain(deadline).thenAccept(result::complete);
                    }
                };
        boolean _ = draining.trySubmit(new InternalTask(task));
        draining.loop().whenTerminated(() -> result.complete(new DrainReport(0, open)));
        return result;
    }

    /// Returns the listener that counts a connection which has moved. Called on its new loop.
    LoopListener ofMoved(Connection connection, LoopListener from) {
        LoopListener now = group == null ? from : group.passOn(connection, from);
        if (now.streams == connection.streams) {
            boolean _ = now.slot.movedAway.remove(connection);
        }
        return now;
    }

    /// Moves up to `count` connections of this slot to another loop.
    void move(LoopListener to, int count) {
        LoopListener from = current();
        long _ = add(MOVING, count); // Until the moves have started, and count themselves.
        Runnable task =
                () -> {
                    try {
                        from.streams.moveAcceptedBy(from, to.loop(), count);
                    } finally {
                        long _ = add(MOVING, -count);
                    }
                };
        if (!from.trySubmit(new InternalTask(task))) {
            long _ = add(MOVING, -count);
        }
    }

    /// Serves a connection that has a permit, or hands it to the loop of this slot. Never blocks.
    ///
    /// @param from the listener on the calling thread's loop
    /// @return false if this loop does not accept it: closed, terminating, overloaded or low
    ///     on memory
    @SuppressWarnings("ReferenceEquality") // compares identity
    boolean offer(OpenDescriptor connection, LoopListener from) {
        LoopListener to = listener;
        if (to == null || !to.isAccepting() || lowMemory) {
            return false;
        }
        if (to == from) {
            to.serve(connection);
            return true;
        }
        boolean submitted = false;
        long _ = add(CONNECTIONS, 1);
        try {
            // The lane itself has no bound, so that completions always pass. A task that the loop
            // has accepted runs, also if the loop fails: see InternalTask.
            submitted =
                    add(IN_FLIGHT, 1) <= MAX_IN_FLIGHT
                            && to.trySubmit(new InternalTask(() -> receive(connection, to)));
        } catch (Throwable e) {
            connection.close();
            limit.release();
            throw e;
        } finally {
            if (!submitted) {
                withdraw(to);
            }
        }
        return submitted;
    }

    private void withdraw(LoopListener to) {
        long _ = add(IN_FLIGHT, -1);
        long _ = add(CONNECTIONS, -1);
        if (!to.isAccepting()) { // It may drain, and have counted the connection.
            boolean _ = to.trySubmit(new InternalTask(to::reportIfDrained));
        }
    }

    void receive(OpenDescriptor connection, LoopListener to) {
        long _ = add(IN_FLIGHT, -1);
        if (to.isAccepting()) {
            to.serveCounted(connection);
            return;
        }
        long _ = add(CONNECTIONS, -1);
        try {
            to.place(connection); // Another loop serves it.
        } finally {
            to.reportIfDrained();
        }
    }
}
