package dev.gyre.http.internal.server;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.http.Attribute;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.Request;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// One run of a blocking handler.
///
/// It counts against the limit of running handlers, except while it waits for its client.
/// Otherwise clients that send nothing, or read nothing, could use up the limit at no cost. It
/// counts until its thread is done, even if that ignores an interrupt.
final class BlockingCall implements BlockingWork<BlockingCall> {
    private final BlockingRoute route;
    private final BlockingHandler handler;
    private final Request request;
    private final BlockingResponse response;
    private final Exchange exchange;
    private final int generation;

    /// The connection, which the exchange forgets when it ends.
    final HttpConnection connection;

    // Loop thread only.
    private boolean counted;
    private boolean done;

    // Shared: written by the worker, read by any thread.
    private volatile boolean returned;
    private volatile boolean failed = true;

    // Shared: the loop interrupts the worker while that runs the handler; guarded by this.
    private @Nullable Thread worker;
    private boolean lost;
    private boolean interrupted;

    BlockingCall(BlockingRoute route, BlockingHandler handler, Request request, Exchange exchange) {
        this.route = route;
        this.handler = handler;
        this.request = request;
        this.exchange = exchange;
        generation = exchange.generation();
        connection = exchange.connection();
        response = new BlockingResponse(exchange, this);
        // The worker uses the attributes, and so do callbacks of middleware on the loop.
        Map<Attribute<?>, Object> known = exchange.attributes;
        exchange.attributes = new ConcurrentHashMap<>(known == null ? Map.of() : known);
    }

    /// @throws IllegalStateException if the handler has returned, or serves another request
    void requireRunning(int generation) {
        if (!isRunning(generation)) {
            throw ServerRequest.ended();
        }
    }

    boolean isRunning(int generation) {
        return generation == this.generation && !returned;
    }

    // ------------------------------------------------------------------ the worker

    @Override
    public BlockingCall run(Cancellation cancellation) throws Exception {
        if (enter()) {
            try {
                handler.handle(request, response);
                response.handlerReturned();
                failed = false;
            } finally {
                leave();
            }
        }
        return this;
    }

    private synchronized boolean enter() {
        if (!lost) {
            worker = Thread.currentThread();
        }
        return !lost;
    }

    private synchronized void leave() {
        returned = true;
        worker = null;
        if (interrupted) {
            boolean _ = Thread.interrupted(); // Meant for the handler, not for the thread.
        }
    }

    /// Runs a part of the handler on the loop, without waiting for it. If it throws, the handler
    /// has failed.
    ///
    /// @throws dev.gyre.LoopTerminatedException if the loop is terminated
    void submit(Runnable part) {
        exchange.context.loop.submitPriority(() -> exchange.completion.runCallback(part));
    }

    // ------------------------------------------------------------------ the loop

    /// Called when the connection is lost. A handler that has not begun is skipped. A running one
    /// is interrupted if the server no longer waits for it. Never because of a client: an interrupt
    /// closes the channel that a thread uses, which may be a file that all handlers share.
    synchronized void lost(CloseReason reason) {
        lost = true;
        boolean byServer = reason == CloseReason.ABORTED || reason == CloseReason.LOOP_ENDED;
        if (byServer && worker != null) {
            interrupted = true;
            worker.interrupt();
        }
    }

    /// Returns whether the connection was lost. Any thread.
    synchronized boolean isLost() {
        return lost;
    }

    /// Returns whether the server has interrupted the handler. Any thread.
    synchronized boolean isInterrupted() {
        return interrupted;
    }

    /// Counts the handler as running, or no longer.
    void count(boolean runs) {
        boolean counts = runs && !done;
        if (counts != counted) {
            counted = counts;
            route.count(counts ? 1 : -1);
        }
    }

    /// Called when the thread is done.
    void done() {
        done = true;
        count(false);
        response.release();
        if (!failed && !exchange.isEnded() && exchange.response.isLeftOpen()) {
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING,
                    "the blocking handler of "
                            + route
                            + " has returned without ending its stream, so the response is"
                            + " truncated: call end() before");
            connection.truncate(exchange);
        }
    }
}
