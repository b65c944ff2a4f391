package dev.gyre.internal.backend;

import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.backend.Request.State;
import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

/// Requests that are through and wait to be handed out, in order; and how many are not through yet.
///
/// Loop thread only, unless said otherwise.
public final class CompletionQueue {
    private final RequestQueue done = new RequestQueue();
    // Shared: written by the loop thread, read by any.
    private final Counter onStarted = new Counter();
    private final Counter completedCount = new Counter();

    /// How many were begun and not handed out for good. Any thread.
    public int outstanding() {
        return (int) (onStarted.get() - completedCount.get());
    }

    /// How many were handed out for good. Any thread.
    public long completedCount() {
        return completedCount.get();
    }

    public boolean isEmpty() {
        return done.isEmpty();
    }

    public void onStarted() {
        onStarted.add(1);
    }

    /// Posts a completion, the last one unless `more` says otherwise. Never calls the owner.
    public void post(Request request, long result, boolean more) {
        assert request.state == State.PENDING : "O-6: completed twice: " + request.opcode;
        request.state = State.COMPLETED;
        request.result = result;
        request.more = more;
        done.add(request);
    }

    /// Posts one result for all requests that are queued at a descriptor: clause O-5.
    public void postAll(DescriptorState descriptor, long result) {
        for (Kind kind : DescriptorState.QUEUES) {
            RequestQueue queue = descriptor.queue(kind);
            for (Request request = queue.poll(); request != null; request = queue.poll()) {
                post(request, result, false);
            }
        }
    }

    /// The next one to be handed out. One that goes on is pending again at once.
    public @Nullable Request poll() {
        Request request = done.poll();
        if (request != null) {
            onDelivered(request);
        }
        return request;
    }

    /// For a completion that is handed out without having been posted.
    public void onDelivered(Request request) {
        if (request.more) {
            request.state = State.PENDING;
        } else {
            request.state = State.IDLE;
            completedCount.add(1);
        }
    }
}
