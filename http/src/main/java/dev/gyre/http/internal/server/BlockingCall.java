package dev.gyre.http.internal.server;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.http.BlockingHandler;
import dev.gyre.http.Request;
import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

/// A blocking handler at work for one request.
///
/// It has a place among those that run at a time, but for while it waits for its peer: otherwise peers that send nothing,
/// or take nothing, would have all places, at no cost to them. The place is its own until the thread is done,
/// however little that heeds an interrupt.
final class BlockingCall implements BlockingWork<Response> {
    private final BlockingRoute route;
    private final BlockingHandler handler;
    private final Request request;
    private final Response response;

    // Loop thread only.
    private boolean counted;
    private boolean over;

    // Shared: the worker says where it is, the loop interrupts it there; guarded by this.
    private @Nullable Thread worker;
    private boolean cancelled;
    private boolean interrupted;

    BlockingCall(BlockingRoute route, BlockingHandler handler, Request request, Response response) {
        this.route = route;
        this.handler = handler;
        this.request = request;
        this.response = response;
    }

    String route() {
        return route.toString();
    }

    // ------------------------------------------------------------------ the worker

    @Override
    public Response run(Cancellation cancellation) throws Exception {
        if (enter()) {
            try {
                handler.handle(request, response);
            } finally {
                leave();
            }
        }
        return response;
    }

    private synchronized boolean enter() {
        if (!cancelled) {
            worker = Thread.currentThread();
        }
        return !cancelled;
    }

    private synchronized void leave() {
        worker = null;
        if (interrupted) {
            boolean _ = Thread.interrupted(); // It was meant for the handler, not for the thread.
        }
    }

    // ------------------------------------------------------------------ the loop

    /// Nobody wants the answer any more: it need not begin.
    synchronized void cancel() {
        cancelled = true;
    }

    /// The server does not wait for it any longer. Never because of a peer: an interrupt closes the channel that a thread is
    /// using, and that may be a file which all handlers share.
    synchronized void interrupt() {
        cancel();
        if (worker != null) {
            interrupted = true;
            worker.interrupt();
        }
    }

    /// Whether an interrupt of its thread is from here. Any thread.
    synchronized boolean isInterrupted() {
        return interrupted;
    }

    /// Takes a place, or gives it back.
    void count(boolean runs) {
        boolean counts = runs && !over;
        if (counts != counted) {
            counted = counts;
            route.count(counts ? 1 : -1);
        }
    }

    /// The thread is done.
    void over() {
        over = true;
        count(false);
    }
}
