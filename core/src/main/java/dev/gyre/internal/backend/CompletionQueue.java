package dev.gyre.internal.backend;

import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.IntrusiveList;

import org.jspecify.annotations.Nullable;

/// The completed requests that are not delivered yet, in order, and the count of outstanding ones.
///
/// Loop thread only, except where noted.
public final class CompletionQueue {
    private final IntrusiveList<Request> completed = new IntrusiveList<>();
    // Shared: written by the loop thread, read by any.
    private final Counter started = new Counter();
    private final Counter delivered = new Counter();

    /// Returns the number of started requests without a delivered final completion. Any thread.
    public int outstanding() {
        return (int) (started.get() - delivered.get());
    }

    /// Returns the number of requests whose final completion was delivered. Any thread.
    public long completedCount() {
        return delivered.get();
    }

    public boolean isEmpty() {
        return completed.isEmpty();
    }

    public void onStarted() {
        started.add(1);
    }

    /// Enqueues a completion. Never calls the handler.
    ///
    /// @param more whether further completions of a multishot follow
    public void post(Request request, long result, boolean more) {
        assert request.state == State.PENDING : "O-6: completed twice: " + request.opcode;
        request.state = State.COMPLETED;
        request.result = result;
        request.more = more;
        completed.add(request);
    }

    /// Completes all requests in the queues of a descriptor with one result: clause O-5.
    public void postAll(DescriptorState descriptor, long result) {
        for (Kind kind : DescriptorState.QUEUES) {
            IntrusiveList<Request> queue = descriptor.queue(kind);
            for (Request request = queue.poll(); request != null; request = queue.poll()) {
                post(request, result, false);
            }
        }
    }

    /// Dequeues the next completion to deliver; null if absent. A multishot that continues
    /// is pending again at once.
    public @Nullable Request poll() {
        Request request = completed.poll();
        if (request == null) {
            return null;
        }
        if (request.more) {
            request.state = State.PENDING;
        } else {
            request.state = State.IDLE;
            delivered.add(1);
        }
        return request;
    }
}
