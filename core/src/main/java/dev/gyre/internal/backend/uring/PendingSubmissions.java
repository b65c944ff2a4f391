package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.sys.Errno;

import java.util.ArrayDeque;

/// Submissions and cancellations that are not in the ring yet.
///
/// They are written together before the next wait: until then another thread may own the ring, or
/// it may be replaced. Cancellations come first, then receives that wait for a buffer, then the
/// rest.
///
/// Receives that found no buffer wait in a first-in, first-out queue of their own: see [Flying] for
/// the fairness between them.
///
/// Loop thread only.
final class PendingSubmissions {
    private final InFlightTable flights;
    private final CancelBacklog departures;
    private final ReceiveBuffers buffers;
    private final Flying.Owner owner;

    /// Flights to be submitted.
    private final ArrayDeque<InFlightOp> waiting = new ArrayDeque<>();

    /// Flights whose submission, named by `cancelToken`, is to be cancelled in the kernel.
    private final ArrayDeque<InFlightOp> cancelled = new ArrayDeque<>();

    /// Receives to be submitted once a buffer is available.
    private final ArrayDeque<InFlightOp> starved = new ArrayDeque<>();

    PendingSubmissions(
            InFlightTable flights,
            CancelBacklog departures,
            ReceiveBuffers buffers,
            Flying.Owner owner) {
        this.flights = flights;
        this.departures = departures;
        this.buffers = buffers;
        this.owner = owner;
    }

    // ------------------------------------------------------------------ enqueue and dequeue

    /// Enqueues a submission. A receive waits for a buffer if others do.
    void add(InFlightOp flight) {
        if (flight.request().opcode == Opcode.RECEIVE && !starved.isEmpty()) {
            addStarved(flight);
        } else if (!flight.waiting) {
            flight.waiting = true;
            waiting.add(flight);
        }
    }

    /// Enqueues a receive that found no buffer.
    void addStarved(InFlightOp flight) {
        if (flight.request().cancelRequested) {
            owner.arrived(flight, -Errno.ECANCELED, -1);
        } else {
            flight.starved = true;
            starved.add(flight);
        }
    }

    /// Enqueues a cancellation of what the kernel has of a flight.
    void addCancel(InFlightOp flight) {
        flight.cancelToken = flight.token;
        cancelled.add(flight);
    }

    /// Dequeues a submission.
    ///
    /// @return whether it was pending
    boolean remove(InFlightOp flight) {
        if (!flight.starved && !flight.waiting) {
            return false;
        }
        ArrayDeque<InFlightOp> queue = flight.starved ? starved : waiting;
        queue.remove(flight);
        flight.starved = false;
        flight.waiting = false;
        return true;
    }

    /// Drops everything.
    void clear() {
        waiting.forEach(flight -> flight.waiting = false);
        waiting.clear();
        starved.forEach(flight -> flight.starved = false);
        starved.clear();
        cancelled.clear();
    }

    // ------------------------------------------------------------------ before a wait

    /// Returns whether nothing is left that could be submitted now.
    boolean allSubmitted() {
        return waiting.isEmpty() && cancelled.isEmpty() && !hasBufferForStarved();
    }

    /// Returns whether a receive that waits for a buffer can be submitted.
    boolean hasBufferForStarved() {
        return !starved.isEmpty() && buffers.available() > 0;
    }

    /// Writes all that can be submitted into the ring.
    ///
    /// @return false if the ring has no room at present; the rest is left for later
    boolean submitPending(Ring ring, SqeWriter entries) {
        for (InFlightOp flight = cancelled.peek(); flight != null; flight = cancelled.peek()) {
            if (flight.token == flight.cancelToken && !submitCancel(entries, flight)) {
                return false;
            }
            cancelled.remove();
        }
        return submitStarved(ring, entries) && submitWaiting(ring, entries);
    }

    /// Submits no more than there are buffers: the rest would fail. The kernel processes
    /// submissions in order, and before it looks at what is in flight, so each of these finds its
    /// buffer.
    private boolean submitStarved(Ring ring, SqeWriter entries) {
        for (int left = Math.min(starved.size(), buffers.available()); left > 0; left--) {
            InFlightOp flight = starved.element();
            flight.drained = false;
            if (!departures.write(ring, entries, flight)) {
                return false;
            }
            starved.remove();
            flight.starved = false;
        }
        return true;
    }

    private boolean submitWaiting(Ring ring, SqeWriter entries) {
        for (InFlightOp flight = waiting.peek(); flight != null; flight = waiting.peek()) {
            if (flight.request().cancelRequested) {
                // Cancelled while the kernel, which returned it for another reason, had it.
                waiting.remove();
                flight.waiting = false;
                owner.arrived(flight, -Errno.ECANCELED, -1);
            } else if (departures.write(ring, entries, flight)) {
                waiting.remove();
                flight.waiting = false;
            } else {
                return false;
            }
        }
        return true;
    }

    // ------------------------------------------------------------------ cancellation

    /// Cancels a submission in the kernel, once: a second cancellation has no effect.
    private static boolean submitCancel(SqeWriter entries, InFlightOp flight) {
        if (!flight.inKernel || flight.cancelSent == flight.token) {
            return true;
        }
        if (!entries.cancel(flight.token)) {
            return false;
        }
        flight.cancelSent = flight.token;
        return true;
    }

    /// Cancels all that the kernel has. Each completes with its result, or is submitted again.
    ///
    /// @return false if the ring has no room at present
    boolean cancelInFlight(SqeWriter entries) {
        for (int slot = 0; slot < flights.slots(); slot++) {
            if (!submitCancel(entries, flights.at(slot))) {
                return false;
            }
        }
        return true;
    }

    /// Allows each submission to be cancelled once more, because its completion has not arrived.
    void forgetCancels() {
        for (int slot = 0; slot < flights.slots(); slot++) {
            flights.at(slot).cancelSent = 0;
        }
    }
}
