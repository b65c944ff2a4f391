package dev.gyre.internal.backend.uring;

import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.CompletionQueue;
import dev.gyre.internal.backend.DescriptorPool;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.FileWorkers;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.backend.RequestQueue;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.Syscalls;

import org.jspecify.annotations.Nullable;

/// Operations as the ring's own: whose turn it is, and who comes next.
///
/// Of each descriptor and kind one request at a time has its turn, which makes it a [InFlightOp]; the others
/// wait in the descriptor's queue, so that they are served in order, and no two sends mix. [Flying] says
/// what becomes of a flight.
///
/// A multishot has its turn until it ends. What the kernel brings faster than the owner deals with it is
/// held back, up to a limit; then the kernel is told to stop, and asked anew when all of it is
/// dealt with. Nothing that was received is lost by that, nor by cancelling: the owner is handed what is
/// held before the end.
///
/// Loop thread only.
final class UringOperations implements OperationEngine, Flying.Owner {
    private final CompletionQueue completions = new CompletionQueue();
    private final DescriptorPool descriptors;
    private final ReceiveBuffers buffers;
    private final Flying flying;
    private final FileWorkers files;
    private final KernelFeatures repertoire;
    private final PollSyscalls kernel;
    private final Runnable recall;
    private boolean closed;

    /// Operations of one loop.
    ///
    /// @param recall has the kernel give back all that it has, and waits for it
    UringOperations(Syscalls seam, LoopContext host, KernelFeatures repertoire, Runnable recall) {
        LoopConfig config = host.config();
        this.recall = recall;
        kernel = seam.kernels().get();
        buffers =
                new ReceiveBuffers(
                        seam.memory(), config.receiveBuffers(), config.receiveBufferBytes());
        descriptors = new DescriptorPool((_, _) -> {}, config.preallocatedDescriptors());
        flying = new Flying(seam, buffers, repertoire, this);
        files = new FileWorkers(host, seam.files(), completions);
        this.repertoire = repertoire;
    }

    Flying flying() {
        return flying;
    }

    @Override
    public DescriptorState open(int fd, int traits) {
        DescriptorState opened = descriptors.acquire(fd, traits);
        opened.registered = true;
        return opened;
    }

    // ------------------------------------------------------------------ starting

    @Override
    public void start(DescriptorState descriptor, Request request) {
        request.begin(descriptor);
        request.fd = descriptor.fd;
        completions.onStarted();
        Kind kind = request.opcode.kind;
        if (descriptor.serving(kind) == null) {
            serve(descriptor, request);
        } else {
            descriptor.queue(kind).add(request);
        }
    }

    @Override
    public void startFile(Request request) {
        request.begin(null);
        completions.onStarted();
        if (request.opcode == Opcode.FILE_CLOSE && request.fd < 0) {
            completions.post(request, 0, false); // Others still use it, and the last one closes it.
        } else if (repertoire.isPerformed(request)) {
            files.start(request);
        } else {
            flying.begin(request);
        }
    }

    private void serve(DescriptorState descriptor, Request request) {
        descriptor.serve(request.opcode.kind, request);
        descriptor.inFlight++;
        flying.begin(request);
    }

    @Override
    public void resume(Request request) {
        assert request.multishot && request.slot >= 0 : "only a multishot goes on";
        InFlightOp flight = flying.at(request.slot);
        flight.withOwner = false;
        if (isGone(request)) {
            discardHeld(flight);
            if (!flight.inKernel && !flight.waiting) {
                over(flight, -Errno.ECANCELED);
            }
        } else if (flight.held() > 0) {
            long held = flight.release();
            hand(flight, InFlightOp.resultOf(held), InFlightOp.bufferOf(held));
        } else if (flight.ended) {
            over(flight, flight.end);
        } else if (!flight.inKernel) {
            if (request.cancelRequested) {
                over(flight, -Errno.ECANCELED);
            } else {
                flying.again(flight);
            }
        }
    }

    private boolean isGone(Request request) {
        DescriptorState descriptor = request.descriptor;
        return closed || (descriptor != null && descriptor.released != null);
    }

    // ------------------------------------------------------------------ what flights bring

    @Override
    public void arrived(InFlightOp flight, long result, int buffer) {
        Request request = flight.request();
        if (!request.multishot) {
            request.buffer = buffer;
            over(flight, result);
        } else if (!request.continuesAfter(result)) {
            if (flight.withOwner || flight.held() > 0) {
                flight.ended = true;
                flight.end = result;
            } else {
                over(flight, result);
            }
        } else if (isGone(request)) {
            discard(request, (int) result, buffer);
            if (!flight.inKernel && !flight.withOwner) {
                over(flight, -Errno.ECANCELED);
            }
        } else if (flight.withOwner || flight.held() > 0) {
            flight.hold((int) result, buffer);
        } else {
            hand(flight, (int) result, buffer);
        }
    }

    private void hand(InFlightOp flight, int result, int buffer) {
        flight.withOwner = true;
        Request request = flight.request();
        request.buffer = buffer;
        completions.post(request, result, true);
    }

    private void discardHeld(InFlightOp flight) {
        while (flight.held() > 0) {
            long held = flight.release();
            discard(flight.request(), InFlightOp.resultOf(held), InFlightOp.bufferOf(held));
        }
    }

    /// Nobody is left to have it.
    private void discard(Request request, int result, int buffer) {
        if (buffer >= 0) {
            flying.giveBack(buffer);
        } else if (request.opcode.kind == Kind.READ && result >= 0) {
            int _ = kernel.close(result); // An accepted connection.
        }
    }

    @Override
    public void over(InFlightOp flight, long result) {
        Request request = flight.request();
        DescriptorState descriptor = request.descriptor;
        flying.give(flight);
        completions.post(request, result, false);
        if (descriptor != null) {
            descriptor.serve(request.opcode.kind, null);
            descriptor.inFlight--;
            if (isBroken(descriptor, result)) {
                completions.postAll(descriptor, result);
            }
            serveNext(descriptor, request.opcode.kind);
            release(descriptor);
        }
    }

    /// Whether an error is the descriptor's and not only the request's: clause O-5. The kernel tells it
    /// once.
    private static boolean isBroken(DescriptorState descriptor, long result) {
        return result < 0
                && result != -Errno.ENOTCONN
                && result != -Errno.EPIPE // of one direction only
                && Errno.kind((int) -result) == SystemCallException.Kind.CONNECTION
                && (descriptor.traits & Traits.STREAM) != 0;
    }

    private void serveNext(DescriptorState descriptor, Kind kind) {
        RequestQueue queue = descriptor.queue(kind);
        if (closed || (descriptor.cancelling & kind.bit) != 0) {
            descriptor.cancelling &= ~kind.bit;
            Request request = queue.first();
            while (request != null) {
                Request after = queue.after(request);
                if (closed || request.cancelRequested) {
                    queue.remove(request);
                    completions.post(request, -Errno.ECANCELED, false);
                }
                request = after;
            }
        }
        Request next = queue.poll();
        if (next != null) {
            serve(descriptor, next);
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void cancel(Request request) {
        if (request.state() == State.IDLE
                || (request.state() == State.COMPLETED && !request.more)) {
            return;
        }
        if (request.slot >= 0) {
            flying.cancel(flying.at(request.slot));
            return;
        }
        DescriptorState descriptor = request.descriptor;
        if (descriptor == null) {
            request.cancelRequested = true; // A worker has it, and sees to it.
            return;
        }
        descriptor.queue(request.opcode.kind).remove(request);
        completions.post(request, -Errno.ECANCELED, false);
    }

    @Override
    public void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds) {
        for (Kind kind : DescriptorState.QUEUES) {
            if ((kinds & kind.bit) == 0) {
                continue;
            }
            Request first = descriptor.serving(kind);
            boolean inOrder = first != null && matches(first, key);
            RequestQueue queue = descriptor.queue(kind);
            // Those behind it first: its own end may come at once, and let the next one in.
            Request request = queue.first();
            while (request != null) {
                Request after = queue.after(request);
                if (matches(request, key)) {
                    if (inOrder) {
                        request.cancelRequested = true;
                        descriptor.cancelling |= kind.bit;
                    } else {
                        cancel(request);
                    }
                }
                request = after;
            }
            if (inOrder && first != null) {
                cancel(first);
            }
        }
    }

    private static boolean matches(Request request, @Nullable Object key) {
        return key == null || key.equals(request.key);
    }

    @Override
    public void close(DescriptorState descriptor, Runnable released) {
        cancelAll(descriptor, null, Kind.ALL);
        descriptor.released = released;
        for (Kind kind : DescriptorState.QUEUES) {
            Request request = descriptor.serving(kind);
            if (request != null) {
                discardHeld(flying.at(request.slot));
            }
        }
        release(descriptor);
    }

    /// Lets the number go when the kernel has nothing of it any more.
    private void release(DescriptorState descriptor) {
        Runnable released = descriptor.released;
        if (released == null) {
            return;
        }
        if (descriptor.registered && !isInKernel(descriptor)) {
            descriptor.registered = false;
            released.run();
        }
        descriptors.releaseIfUnused(descriptor);
    }

    private boolean isInKernel(DescriptorState descriptor) {
        for (Kind kind : DescriptorState.QUEUES) {
            Request request = descriptor.serving(kind);
            if (request != null && flying.at(request.slot).isUnderWay()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            files.close();
            recall.run();
            flying.end();
            if (flying.inKernel() > 0) {
                buffers.abandon();
            }
        }
    }

    // ------------------------------------------------------------------ completions

    @Override
    public @Nullable Request pollCompleted() {
        return completions.poll();
    }

    @Override
    public boolean hasCompleted() {
        return !completions.isEmpty();
    }

    @Override
    public int outstanding() {
        return completions.outstanding();
    }

    @Override
    public long completedCount() {
        return completions.completedCount();
    }

    @Override
    public void flush() {
        // Everything is written into the ring by the wait itself.
    }

    @Override
    public ReceiveBuffers buffers() {
        return buffers;
    }

    @Override
    public void releaseBuffer(int buffer) {
        flying.giveBack(buffer);
    }
}
