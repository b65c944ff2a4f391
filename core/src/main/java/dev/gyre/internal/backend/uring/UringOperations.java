package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.backend.uring.InFlightTable.NO_RESULT;

import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.CompletionQueue;
import dev.gyre.internal.backend.DescriptorPool;
import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.FileWorkers;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.base.IntrusiveList;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;

/// The operations of a loop, as SQEs of its ring.
///
/// One request per descriptor and kind is in flight. The others wait in the queue of the
/// descriptor, so that they complete in order and no two sends interleave.
///
/// A multishot stays in flight until it ends. Results that arrive faster than the owner processes
/// them are held, up to a limit. Then the multishot is cancelled, and submitted again once the
/// owner has processed all of them. Neither that nor a cancellation by the owner loses input: the
/// owner gets held results before the end.
///
/// Loop thread only.
final class UringOperations implements OperationEngine {
    /// After this long, cancellations are submitted again.
    private static final long CANCEL_RETRY_NANOS = 100_000_000;

    private final Ring ring;
    private final PollRequests polls;
    private final KernelFeatures features;
    private final ReceiveBuffers buffers;
    private final ProvidedBufferRing bufferRing;
    private final InFlightTable table;
    private final CqeProcessor processor;
    private final DescriptorPool descriptors;
    private final CompletionQueue completions = new CompletionQueue();
    private final FileWorkers files;

    /// Emulated operations to try next.
    private final ArrayDeque<InFlightOp> due = new ArrayDeque<>();

    private boolean emulating;
    private boolean closed;

    UringOperations(
            SyscallFactories syscalls,
            LoopContext loop,
            KernelFeatures features,
            Ring ring,
            SqeWriter sqes,
            PollRequests polls) {
        LoopConfig config = loop.config();
        this.ring = ring;
        this.polls = polls;
        this.features = features;
        buffers =
                new ReceiveBuffers(
                        syscalls.memory(), config.receiveBuffers(), config.receiveBufferBytes());
        bufferRing = new ProvidedBufferRing(ring, buffers, features);
        table = new InFlightTable(sqes, features, buffers, bufferRing);
        processor = new CqeProcessor(table, features, buffers, bufferRing, syscalls);
        descriptors = new DescriptorPool((_, _) -> {}, config.preallocatedDescriptors());
        files = new FileWorkers(loop, syscalls.files(), completions);
    }

    InFlightTable table() {
        return table;
    }

    @Override
    public DescriptorState open(int fd, int traits) {
        DescriptorState opened = descriptors.acquire(fd, traits);
        opened.registered = true;
        return opened;
    }

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
            completions.post(request, 0, false); // Other users remain, and the last one closes it.
        } else if (features.isEmulated(request)) {
            files.start(request);
        } else {
            begin(request);
        }
    }

    /// Puts a request in flight. It is the only one of its kind and descriptor.
    private void serve(DescriptorState descriptor, Request request) {
        descriptor.serve(request.opcode.kind, request);
        descriptor.inFlight++;
        begin(request);
        if (request.opcode.kind == Kind.URGENT && request.slot >= 0) {
            table.pauseRead(descriptor);
        }
    }

    private void begin(Request request) {
        InFlightOp op = table.acquire(request);
        if (features.isEmulated(request) && !InFlightTable.isBehindUrgent(request)) {
            emulate(op); // At once: the call has to be made anyway.
        } else {
            deliver(op, table.enqueue(op));
        }
    }

    /// Makes the system call of an emulated operation. Its end may begin the next one of its queue,
    /// and so on.
    private void emulate(InFlightOp op) {
        due.add(op);
        if (emulating) {
            return; // A caller does it: a long queue must not make a deep stack.
        }
        emulating = true;
        try {
            for (InFlightOp next = due.poll(); next != null; next = due.poll()) {
                deliver(next, processor.emulate(next));
            }
        } finally {
            emulating = false;
        }
    }

    @Override
    public void resume(Request request) {
        assert request.multishot && request.slot >= 0 : "only a multishot can be resumed";
        InFlightOp op = table.at(request.slot);
        op.withOwner = false;
        if (isGone(request)) {
            processor.discardHeld(op);
            if (!op.isUnderWay()) {
                end(op, -Errno.ECANCELED);
            }
        } else if (op.heldCount() > 0) {
            pass(op, op.pollHeld());
        } else if (!op.inKernel) {
            deliver(op, table.enqueue(op));
        }
    }

    /// Returns whether results have no receiver any more.
    private boolean isGone(Request request) {
        DescriptorState descriptor = request.descriptor;
        return closed || (descriptor != null && descriptor.released != null);
    }

    void onCompletion(long userData, int result, int flags) {
        InFlightOp op = table.find(userData);
        if (op != null) {
            deliver(op, processor.complete(op, result, flags));
        }
    }

    /// Passes a result to the owner, or holds it until the owner has processed earlier ones.
    private void deliver(InFlightOp op, long result) {
        if (result == NO_RESULT) {
            return;
        }
        Request request = op.request();
        if (continues(request, result) && isGone(request)) {
            processor.discard(request, (int) result, op.buffer);
            if (!op.inKernel && !op.withOwner) {
                end(op, -Errno.ECANCELED);
            }
        } else if (op.isAhead()) {
            op.hold((int) result, op.buffer);
            table.pauseIfAhead(op);
        } else {
            pass(op, result);
        }
    }

    /// Passes a result to the owner. A multishot continues once the owner resumes it.
    private void pass(InFlightOp op, long result) {
        Request request = op.request();
        request.buffer = result > 0 ? op.buffer : -1;
        if (continues(request, result)) {
            op.withOwner = true;
            completions.post(request, result, true);
        } else {
            end(op, result);
        }
    }

    private static boolean continues(Request request, long result) {
        return request.multishot && request.continuesAfter(result);
    }

    private void end(InFlightOp op, long result) {
        Request request = op.request();
        DescriptorState descriptor = request.descriptor;
        table.release(op);
        completions.post(request, result, false);
        if (descriptor != null) {
            descriptor.serve(request.opcode.kind, null);
            descriptor.inFlight--;
            if (CqeProcessor.isBroken(descriptor, result)) {
                completions.postAll(descriptor, result);
            }
            serveNext(descriptor, request.opcode.kind);
            release(descriptor);
        }
    }

    private void serveNext(DescriptorState descriptor, Kind kind) {
        IntrusiveList<Request> queue = descriptor.queue(kind);
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

    @Override
    public void cancel(Request request) {
        if (request.isFinished()) {
            return;
        }
        if (request.slot >= 0) {
            InFlightOp op = table.at(request.slot);
            deliver(op, table.cancel(op));
            return;
        }
        DescriptorState descriptor = request.descriptor;
        if (descriptor == null) {
            request.cancelRequested = true; // The worker that has it checks this.
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
            boolean inOrder = first != null && first.hasKey(key);
            IntrusiveList<Request> queue = descriptor.queue(kind);
            // The queue first: the one in flight may end at once, and begin the next.
            Request request = queue.first();
            while (request != null) {
                Request after = queue.after(request);
                if (request.hasKey(key)) {
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

    @Override
    public void close(DescriptorState descriptor, Runnable released) {
        cancelAll(descriptor, null, Kind.ALL);
        descriptor.released = released;
        for (Kind kind : DescriptorState.QUEUES) {
            Request request = descriptor.serving(kind);
            if (request != null) {
                processor.discardHeld(table.at(request.slot));
            }
        }
        release(descriptor);
    }

    /// Releases the number once the kernel does not use it any more.
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
            if (request != null && table.at(request.slot).isUnderWay()) {
                return true;
            }
        }
        return false;
    }

    /// Cancels everything that the kernel has, and waits for the CQEs. Each operation completes
    /// with its result, or becomes pending again. Does nothing unless the calling thread owns the
    /// ring.
    void cancelInFlight() {
        boolean again = false;
        while (table.inKernel() > 0 && ring.isOwner()) {
            table.cancelInFlight(again);
            int result = ring.enterAndWait(CANCEL_RETRY_NANOS);
            if (result < 0
                    && result != -Errno.EINTR
                    && result != -Errno.ETIME
                    && !Ring.isCongested(result)) {
                return; // Nothing returns from such a ring.
            }
            drainCq();
            again = result == -Errno.ETIME;
        }
    }

    /// Consumes all CQEs when no tick follows that dispatches events.
    private void drainCq() {
        while (ring.cqReady() > 0) {
            long userData = ring.cqeUserData();
            int result = ring.cqeResult();
            int flags = ring.cqeFlags();
            ring.advanceCq();
            if (UserData.isOperation(userData)) {
                onCompletion(userData, result, flags);
            } else {
                polls.onCompletion(userData, result, flags, false);
            }
            ring.releaseCqes();
        }
    }

    /// Completes or resubmits operations that a closed ring had.
    void onRingClosed() {
        bufferRing.onRingClosed();
        for (int slot = 0; slot < table.slots(); slot++) {
            InFlightOp op = table.at(slot);
            if (op.inKernel) {
                deliver(op, processor.onRingClosed(op));
            }
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        files.close();
        cancelInFlight();
        table.clearPending();
        for (int slot = 0; slot < table.slots(); slot++) {
            InFlightOp op = table.at(slot);
            if (op.request != null && !op.inKernel && !op.withOwner) {
                end(op, -Errno.ECANCELED);
            }
        }
        if (table.inKernel() > 0) {
            buffers.abandon(); // The kernel may still write to them.
        }
    }

    @Override
    public CompletionQueue completions() {
        return completions;
    }

    @Override
    public void flush() {
        // Each wait submits everything pending.
    }

    @Override
    public ReceiveBuffers buffers() {
        return buffers;
    }

    @Override
    public void releaseBuffer(int buffer) {
        bufferRing.release(buffer);
    }
}
