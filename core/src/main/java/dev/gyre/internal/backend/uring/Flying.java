package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_CQE_BUFFER_SHIFT;
import static dev.gyre.internal.sys.IoUring.IORING_CQE_F_BUFFER;
import static dev.gyre.internal.sys.IoUring.IORING_CQE_F_MORE;

import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.SyscallExecutor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// What becomes of a request once it has its turn: written into the ring, written again for what is
/// left of it, or made by ourselves after a poll where the ring has no such operation.
///
/// Nothing is written into the ring at once: [PendingSubmissions] has it until the next wait.
///
/// **Fairness.** All receives share one ring of buffers, and a multishot takes as many of them in
/// one go as its socket has bytes for. Three rules keep a bulk sender from starving the others:
///
/// - A receive is multishot only after one that left room in its buffer, which means that the
///   socket was drained. While a peer sends faster than it is read, each submission takes one
///   buffer.
/// - A multishot that gets more than `maxHeld` results ahead of its owner is cancelled, and
///   submitted again as a single receive.
/// - Receives that found no buffer wait in a first-in, first-out queue. As many as there are
///   buffers available are submitted before everything else, each as a single receive. While others
///   wait there, a receive that is submitted again joins the end of the queue.
///
/// Loop thread only.
final class Flying {
    /// Whom results are brought to.
    interface Owner {
        /// A request has a result: the last one, unless it is a multishot's.
        void arrived(InFlightOp flight, long result, int buffer);

        /// A flight is over.
        void over(InFlightOp flight, long result);
    }

    private final Owner owner;
    private final SyscallExecutor performer;
    private final ReceiveBuffers buffers;
    private final ProvidedBufferRing bufferRing;
    private final InFlightTable flights = new InFlightTable();
    private final CancelBacklog departures;
    private final PendingSubmissions pending;
    private final KernelFeatures repertoire;

    /// Those to be performed next: that one is over may let in another, and so on.
    private final ArrayDeque<InFlightOp> due = new ArrayDeque<>();

    private boolean performing;

    /// How many results a multishot may be ahead of its owner before it is cancelled.
    private final int maxHeld;

    Flying(Syscalls seam, ReceiveBuffers buffers, KernelFeatures repertoire, Owner owner) {
        this.owner = owner;
        this.repertoire = repertoire;
        this.buffers = buffers;
        performer = new SyscallExecutor(seam.kernels().get(), seam.sockets().get());
        bufferRing = new ProvidedBufferRing(buffers, repertoire);
        departures = new CancelBacklog(flights, bufferRing, repertoire);
        pending = new PendingSubmissions(flights, departures, buffers, owner);
        maxHeld = Math.max(1, buffers.count() / 32);
    }

    /// What goes into the ring before the next wait.
    PendingSubmissions pending() {
        return pending;
    }

    InFlightOp at(int slot) {
        return flights.at(slot);
    }

    int inKernel() {
        return flights.inKernel();
    }

    void give(InFlightOp flight) {
        flights.give(flight);
    }

    void giveBack(int buffer) {
        bufferRing.give(buffer);
    }

    void begin(Request request) {
        InFlightOp flight = flights.take(request);
        if (repertoire.isPerformed(request) && !isBehindUrgent(request)) {
            perform(flight); // Tried at once: a call it takes anyway.
        } else {
            again(flight);
        }
        if (request.opcode.kind == Kind.URGENT && request.slot >= 0) {
            pollBeforeRead(request.descriptor);
        }
    }

    /// Whether it reads from a descriptor on which another request waits for urgent data. The
    /// kernel drops an urgent byte that is read past. So such a read waits for readiness in the
    /// kernel, and is submitted only once no urgent data is pending: clause O-2.
    static boolean isBehindUrgent(Request request) {
        DescriptorState descriptor = request.descriptor;
        return request.opcode.kind == Kind.READ
                && descriptor != null
                && descriptor.serving(Kind.URGENT) != null;
    }

    /// Takes a read back that the kernel would make as soon as there is data.
    private void pollBeforeRead(@Nullable DescriptorState descriptor) {
        Request read = descriptor == null ? null : descriptor.serving(Kind.READ);
        if (read != null && read.slot >= 0) {
            InFlightOp flight = flights.at(read.slot);
            if (flight.inKernel && !flight.polling) {
                park(flight);
            }
        }
    }

    /// Has the kernel give it back: it is submitted again when its owner is ready, in another form.
    private void park(InFlightOp flight) {
        if (!flight.parked) {
            flight.parked = true;
            pending.addCancel(flight);
        }
    }

    /// Has it written into the ring before the next wait.
    void again(InFlightOp flight) {
        flight.pollFirst |= isBehindUrgent(flight.request());
        pending.add(flight);
    }

    /// Asks for its early end: now, or with its completion if the kernel has it.
    void cancel(InFlightOp flight) {
        flight.request().cancelRequested = true;
        if (flight.inKernel) {
            pending.addCancel(flight);
        } else if (pending.remove(flight)) {
            owner.over(flight, -Errno.ECANCELED);
        }
        // Else its owner has it, and hears of it when it asks for more.
    }

    // ------------------------------------------------------------------ completions

    void completed(long token, int result, int flags) {
        InFlightOp flight = flights.find(token);
        if (flight == null) {
            return;
        }
        if (flight.request().opcode == Opcode.POLL_END) {
            endPolled(flight, result, (flags & IORING_CQE_F_MORE) != 0);
            return;
        }
        if ((flags & IORING_CQE_F_MORE) != 0) {
            repertoire.provedMultishot(flight.request().opcode);
        } else {
            flights.fromKernel(flight);
            flight.drained &= !flight.parked;
            flight.parked = false;
        }
        if (result == -Errno.ECANCELED && !flight.request().cancelRequested) {
            recalled(flight);
        } else if (flight.polling) {
            polled(flight, result);
        } else {
            int buffer = -1;
            if ((flags & IORING_CQE_F_BUFFER) != 0) {
                buffer = flags >>> IORING_CQE_BUFFER_SHIFT;
                bufferRing.chosen(buffer);
                if (result <= 0) {
                    bufferRing.give(buffer);
                    buffer = -1;
                }
            }
            returned(flight, result, buffer);
        }
    }

    /// Cancelled, but not by its owner: it was too far ahead of it, or the thread left the loop.
    private void recalled(InFlightOp flight) {
        Request request = flight.request();
        if (request.opcode == Opcode.CONNECT && !flight.polling) {
            request.stage = KernelFeatures.CONNECTING; // It goes on without us.
        }
        if (flight.polling && !repertoire.isPerformed(request)) {
            flight.pollFirst = true;
        }
        if (!flight.withOwner && flight.held() == 0) {
            again(flight);
        }
    }

    /// The poll of a POLL_END, which completes when the kernel has none of it any more.
    /// `transferred` keeps what was found.
    private void endPolled(InFlightOp flight, int result, boolean more) {
        Request request = flight.request();
        int found = result < 0 ? 0 : result & request.flags;
        request.transferred |= found;
        if (more) {
            if (found != 0) {
                park(flight);
            }
            return;
        }
        flights.fromKernel(flight);
        flight.parked = false;
        if (request.transferred != 0) {
            owner.arrived(flight, request.transferred, -1);
        } else if (result >= 0 || (result == -Errno.ECANCELED && !request.cancelRequested)) {
            again(flight);
        } else {
            owner.arrived(flight, result, -1);
        }
    }

    private void polled(InFlightOp flight, int result) {
        Request request = flight.request();
        if (result < 0) {
            owner.arrived(flight, result, -1);
        } else if (request.opcode == Opcode.READ_URGENT && isOver(result)) {
            // No urgent data comes any more, and the call for it would not say so.
            owner.arrived(flight, -Math.abs(performer.socketError(request.fd)), -1);
        } else if (isBehindUrgent(request) && performer.hasUrgentData(request.fd)) {
            again(flight); // By the next completion the urgent data is taken.
        } else if (repertoire.isPerformed(request)) {
            perform(flight);
        } else {
            pending.add(flight);
        }
    }

    private static boolean isOver(int polled) {
        return (polled & Linux.EPOLLPRI) == 0 && (polled & (Linux.EPOLLERR | Linux.EPOLLHUP)) != 0;
    }

    private void perform(InFlightOp flight) {
        due.add(flight);
        if (performing) {
            return; // By a caller of ours: a long queue must not make a deep stack.
        }
        performing = true;
        try {
            for (InFlightOp next = due.poll(); next != null; next = due.poll()) {
                performOne(next);
            }
        } finally {
            performing = false;
        }
    }

    private void performOne(InFlightOp flight) {
        Request request = flight.request();
        DescriptorState descriptor = request.descriptor;
        int traits = descriptor == null ? 0 : descriptor.traits;
        int buffer = -1;
        long result;
        if (request.opcode == Opcode.RECEIVE) {
            buffer = buffers.acquire();
            if (buffer < 0) {
                pending.addStarved(flight);
                return;
            }
            result = performer.receive(request.fd, buffers.address(buffer), buffers.size(), traits);
            if (result <= 0) {
                buffers.release(buffer);
                buffer = -1;
            }
        } else {
            result = performer.execute(request, traits);
        }
        if (result == SyscallExecutor.WOULD_BLOCK) {
            flight.pollFirst = true;
            again(flight);
        } else {
            owner.arrived(flight, result, buffer);
        }
    }

    private void returned(InFlightOp flight, int result, int buffer) {
        Request request = flight.request();
        if (result >= 0) {
            succeeded(flight, result, buffer);
        } else if (result == -Errno.EINTR) {
            if (request.opcode == Opcode.FILE_CLOSE) {
                owner.arrived(flight, 0, -1); // The number is free by then.
            } else {
                again(flight);
            }
        } else if (result == -Errno.EAGAIN && isRetried(request.opcode)) {
            flight.pollFirst = true;
            again(flight);
        } else if (result == -Errno.ENOBUFS && request.opcode == Opcode.RECEIVE) {
            flight.drained = false;
            if (!flight.withOwner && flight.held() == 0) {
                pending.addStarved(flight);
            }
        } else if (result == -Errno.ECONNABORTED && request.opcode == Opcode.ACCEPT) {
            againUnlessAhead(flight); // That peer has hung up; the next may have come.
        } else if (result == -Errno.EINVAL
                && departures.isMultishot(flight)
                && !repertoire.isMultishotProven(request.opcode)) {
            flight.singly = true; // If it was not that, it fails once more.
            againUnlessAhead(flight);
        } else {
            owner.arrived(flight, result, buffer);
        }
    }

    /// Of files it is a result, and of CONNECT too: the backlog of a Unix socket is full.
    private static boolean isRetried(Opcode opcode) {
        return opcode.kind != Kind.FILE && opcode != Opcode.CONNECT;
    }

    private void againUnlessAhead(InFlightOp flight) {
        if (!flight.withOwner && flight.held() == 0 && !flight.inKernel) {
            again(flight);
        }
    }

    private void succeeded(InFlightOp flight, int result, int buffer) {
        Request request = flight.request();
        switch (request.opcode) {
            case WRITE, FILE_WRITE -> {
                request.transferred += result;
                wroteSome(flight, result == 0 || request.transferred >= request.length);
            }
            case WRITE_VECTOR -> {
                request.transferred += result;
                wroteSome(flight, SyscallExecutor.advanceIovecs(request, result));
            }
            default -> {
                if (flight.singly) {
                    repertoire.refusedMultishot(request.opcode);
                }
                flight.drained = result < buffers.size();
                owner.arrived(flight, result, buffer);
                if (flight.inKernel && flight.held() >= maxHeld) {
                    park(flight);
                }
            }
        }
    }

    private void wroteSome(InFlightOp flight, boolean all) {
        if (all) {
            owner.arrived(flight, flight.request().transferred, -1);
        } else {
            flight.request().reportProgress();
            again(flight);
        }
    }

    // ------------------------------------------------------------------ when the ring goes

    /// The ring is gone. What it still had has no result any more, but of a poll nothing is lost.
    void lost() {
        bufferRing.lost();
        for (int slot = 0; slot < flights.slots(); slot++) {
            InFlightOp flight = flights.at(slot);
            if (flight.inKernel) {
                flights.fromKernel(flight);
                if (flight.polling) {
                    recalled(flight);
                } else {
                    buffers.abandon();
                    owner.arrived(flight, -Errno.ENOMEM, -1);
                }
            }
        }
    }

    /// Ends all that is left, when the kernel has none of it.
    void end() {
        pending.clear();
        for (int slot = 0; slot < flights.slots(); slot++) {
            InFlightOp flight = flights.at(slot);
            if (flight.request != null && !flight.inKernel && !flight.withOwner) {
                owner.over(flight, -Errno.ECANCELED);
            }
        }
    }
}
