package dev.gyre.internal.backend;

import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.base.IntrusiveList;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.SyscallFactories;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.List;

/// Executes operations on kernels that report readiness.
///
/// A request is tried at once if no other one of its kind waits and the descriptor is not known to
/// block. Otherwise it joins the queue of its kind, and the next flush arms that kind. When the
/// kernel reports it as ready, the queue is served from the front until the descriptor blocks.
///
/// Descriptors are registered edge-triggered: [EdgeTriggeredInterest] tracks the armed kinds, and
/// those that would block.
///
/// Loop thread only.
public final class ReadinessOperations implements OperationEngine, DescriptorState.EventReader {
    private final SyscallExecutor executor;
    private final FileWorkers files;
    private final ReceiveBuffers buffers;
    private final CompletionQueue completions = new CompletionQueue();
    private final DescriptorPool descriptors;
    private final EdgeTriggeredInterest interest;

    /// Descriptors with a receive that waits for a buffer, in order.
    private final ArrayDeque<DescriptorState> awaitingBuffer = new ArrayDeque<>();

    public ReadinessOperations(Backend backend, SyscallFactories syscalls, LoopContext context) {
        executor = new SyscallExecutor(syscalls.kernels().get(), syscalls.sockets().get());
        files = new FileWorkers(context, syscalls.files(), completions);
        LoopConfig config = context.config();
        buffers =
                new ReceiveBuffers(
                        syscalls.memory(), config.receiveBuffers(), config.receiveBufferBytes());
        descriptors = new DescriptorPool(this, config.preallocatedDescriptors());
        interest = new EdgeTriggeredInterest(backend, completions, descriptors);
    }

    @Override
    public DescriptorState open(int fd, int traits) {
        return descriptors.acquire(fd, traits);
    }

    @Override
    public void start(DescriptorState descriptor, Request request) {
        request.begin(descriptor);
        request.fd = descriptor.fd;
        completions.onStarted();
        tryOrQueue(descriptor, request);
    }

    private void tryOrQueue(DescriptorState descriptor, Request request) {
        Kind kind = request.opcode.kind;
        if (kind == Kind.END) {
            awaitEnd(descriptor, request);
            return;
        }
        if (kind == Kind.READ && !descriptor.queue(Kind.URGENT).isEmpty()) {
            // Urgent data first. The read is tried too: its readiness may have been reported
            // already, and an edge is reported once.
            serve(descriptor, Kind.URGENT, 0);
        }
        IntrusiveList<Request> queue = descriptor.queue(kind);
        if (queue.isEmpty() && !EdgeTriggeredInterest.isBlocked(descriptor, kind)) {
            long result = tryOnce(descriptor, request);
            if (result != SyscallExecutor.WOULD_BLOCK) {
                complete(descriptor, request, result);
                return;
            }
        }
        queue.add(request);
        interest.want(descriptor, kind);
    }

    private void awaitEnd(DescriptorState descriptor, Request request) {
        int known = descriptor.endEvents & request.flags;
        if (known != 0) {
            completions.post(request, known, false);
        } else {
            descriptor.queue(Kind.END).add(request);
            interest.want(descriptor, Kind.END);
        }
    }

    @Override
    public void startFile(Request request) {
        request.begin(null);
        completions.onStarted();
        files.start(request);
    }

    /// Tries a request once, and records whether the descriptor blocks.
    private long tryOnce(DescriptorState descriptor, Request request) {
        if (request.opcode == Opcode.RECEIVE) {
            return receive(descriptor, request);
        }
        long before = request.transferred;
        long result = executor.execute(request, descriptor.traits);
        Kind kind = request.opcode.kind;
        if (result == SyscallExecutor.WOULD_BLOCK) {
            interest.onWouldBlock(descriptor, kind, request.transferred != before);
        } else {
            if (request.opcode == Opcode.READ && isDrained(descriptor, result, request.length)) {
                EdgeTriggeredInterest.onDrained(descriptor, kind);
            }
            EdgeTriggeredInterest.onPerformed(descriptor, kind, isExhausted(request, result));
        }
        return result;
    }

    /// Returns whether the next call is expected to block: after a short read, and after one that
    /// returns a whole message or connection.
    private static boolean isExhausted(Request request, long result) {
        return request.opcode.kind == Kind.READ
                && (request.opcode != Opcode.READ || result < request.length);
    }

    private static boolean isDrained(DescriptorState descriptor, long result, long length) {
        return result > 0
                && result < length
                && !descriptor.ending
                && (descriptor.traits & Traits.EMPTIED_BY_SHORT_READ) != 0;
    }

    private long receive(DescriptorState descriptor, Request request) {
        int buffer = buffers.acquire();
        if (buffer < 0) {
            // The descriptor does not block, but the loop has no buffer. A read that follows must
            // be tried, because its edge was reported.
            if (!descriptor.awaitsBuffer) {
                descriptor.awaitsBuffer = true;
                awaitingBuffer.add(descriptor);
            }
            return SyscallExecutor.WOULD_BLOCK;
        }
        long result =
                executor.receive(
                        descriptor.fd, buffers.address(buffer), buffers.size(), descriptor.traits);
        if (result > 0) {
            request.buffer = buffer;
            EdgeTriggeredInterest.onPerformed(descriptor, Kind.READ, result < buffers.size());
            if (isDrained(descriptor, result, buffers.size())) {
                EdgeTriggeredInterest.onDrained(descriptor, Kind.READ);
            }
        } else {
            buffers.release(buffer);
            if (result == SyscallExecutor.WOULD_BLOCK) {
                interest.onWouldBlock(descriptor, Kind.READ, false);
            }
        }
        return result;
    }

    private void complete(DescriptorState descriptor, Request request, long result) {
        boolean more = request.multishot && request.continuesAfter(result);
        if (more) {
            descriptor.inFlight++;
            descriptor.addDelivered(request);
        }
        completions.post(request, result, more);
    }

    @Override
    public void resume(Request request) {
        DescriptorState descriptor = request.descriptor;
        assert descriptor != null && request.multishot : "only a multishot is resumed";
        descriptor.inFlight--;
        descriptor.removeDelivered(request);
        if (request.cancelRequested || descriptor.released != null) {
            completions.post(request, -Errno.ECANCELED, false);
            descriptors.releaseIfUnused(descriptor);
        } else {
            tryOrQueue(descriptor, request);
        }
    }

    @Override
    public void onReady(DescriptorState descriptor, int events) {
        int errno = Readiness.errno(events);
        if (errno != 0) { // Reported in place of readiness.
            descriptor.ending = true;
            EdgeTriggeredInterest.reset(descriptor);
            completions.postAll(descriptor, -errno);
            return;
        }
        boolean ended = (events & (Readiness.ERROR | Readiness.HANGUP)) != 0;
        descriptor.ending |= ended || (events & (Readiness.END | Readiness.URGENT)) != 0;
        descriptor.endEvents |= events & (Readiness.END | Readiness.HANGUP | Readiness.ERROR);
        if ((events & Readiness.URGENT) != 0
                || (!ended && !descriptor.queue(Kind.URGENT).isEmpty())) {
            // Tried even if not reported: kqueue may report it in a later batch than the read.
            serve(descriptor, Kind.URGENT, events);
        }
        if (ended && !descriptor.queue(Kind.URGENT).isEmpty()) {
            endUrgent(descriptor);
        }
        if (ended || (events & (Readiness.READ | Readiness.END)) != 0) {
            serve(descriptor, Kind.READ, events);
        }
        if (ended || (events & Readiness.WRITE) != 0) {
            serve(descriptor, Kind.WRITE, events);
        }
        if (!descriptor.queue(Kind.END).isEmpty()) {
            serveEnd(descriptor);
        }
    }

    private void serveEnd(DescriptorState descriptor) {
        IntrusiveList<Request> queue = descriptor.queue(Kind.END);
        Request request = queue.first();
        while (request != null) {
            Request after = queue.after(request);
            int known = descriptor.endEvents & request.flags;
            if (known != 0) {
                queue.remove(request);
                completions.post(request, known, false);
            }
            request = after;
        }
    }

    /// Serves a queue from the front until the descriptor blocks.
    private void serve(DescriptorState descriptor, Kind kind, int events) {
        EdgeTriggeredInterest.onReady(descriptor, kind);
        IntrusiveList<Request> queue = descriptor.queue(kind);
        if (queue.isEmpty()) {
            interest.onUnwantedReadiness(descriptor, kind);
            return;
        }
        Request request = queue.first();
        while (request != null && !EdgeTriggeredInterest.isBlocked(descriptor, kind)) {
            long result = tryOnce(descriptor, request);
            if (result == SyscallExecutor.WOULD_BLOCK) {
                return;
            }
            queue.remove(request);
            complete(descriptor, request, result);
            if (result < 0 && (events & Readiness.ERROR) != 0) {
                completions.postAll(descriptor, result);
                return;
            }
            request = queue.first();
        }
    }

    /// Completes the requests for urgent data after the end: their call would not report it.
    private void endUrgent(DescriptorState descriptor) {
        int error = executor.socketError(descriptor.fd);
        IntrusiveList<Request> queue = descriptor.queue(Kind.URGENT);
        for (Request request = queue.poll(); request != null; request = queue.poll()) {
            completions.post(request, -Math.abs(error), false);
        }
        if (error > 0) {
            // The query has cleared it for the other requests.
            completions.postAll(descriptor, -error);
        }
    }

    @Override
    public void flush() {
        while (!awaitingBuffer.isEmpty() && buffers.available() > 0) {
            DescriptorState descriptor = awaitingBuffer.removeFirst();
            descriptor.awaitsBuffer = false;
            if (descriptor.released == null) {
                serve(descriptor, Kind.READ, 0);
            }
            descriptors.releaseIfUnused(descriptor);
        }
        interest.flush();
    }

    @Override
    public void cancel(Request request) {
        if (request.isFinished()) {
            return;
        }
        DescriptorState descriptor = request.descriptor;
        if (descriptor != null
                && request.state() == State.PENDING
                && descriptor.queue(request.opcode.kind).contains(request)) {
            descriptor.queue(request.opcode.kind).remove(request);
            completions.post(request, -Errno.ECANCELED, false);
        } else {
            // Delivered, or executed by a worker: the next step cancels it.
            request.cancelRequested = true;
        }
    }

    @Override
    public void cancelAll(DescriptorState descriptor, @Nullable Object key, int kinds) {
        for (Kind kind : DescriptorState.QUEUES) {
            if ((kinds & kind.bit) != 0) {
                cancelAll(descriptor.queue(kind), key);
            }
        }
        List<Request> withOwners = descriptor.delivered();
        for (int i = 0; i < withOwners.size(); i++) {
            Request request = withOwners.get(i);
            if ((kinds & request.opcode.kind.bit) != 0 && request.hasKey(key)) {
                request.cancelRequested = true;
            }
        }
    }

    private void cancelAll(IntrusiveList<Request> queue, @Nullable Object key) {
        Request request = queue.first();
        while (request != null) {
            Request after = queue.after(request);
            if (request.hasKey(key)) {
                cancel(request);
            }
            request = after;
        }
    }

    @Override
    public void close(DescriptorState descriptor, Runnable released) {
        cancelAll(descriptor, null, Kind.ALL);
        descriptor.released = released;
        interest.deregister(descriptor);
        released.run();
        descriptors.releaseIfUnused(descriptor);
    }

    @Override
    public CompletionQueue completions() {
        return completions;
    }

    @Override
    public ReceiveBuffers buffers() {
        return buffers;
    }

    @Override
    public void releaseBuffer(int buffer) {
        buffers.release(buffer);
    }

    @Override
    public void close() {
        files.close();
    }
}
