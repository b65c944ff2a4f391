package dev.gyre.internal.backend;

import org.jspecify.annotations.Nullable;

/// Requests in order of arrival, linked through themselves: adding and taking out anywhere costs nothing but
/// the links. A request is in one queue at a time.
///
/// Loop thread only.
public final class RequestQueue {
    private @Nullable Request first;
    private @Nullable Request last;

    public boolean isEmpty() {
        return first == null;
    }

    public @Nullable Request first() {
        return first;
    }

    public @Nullable Request after(Request request) {
        assert request.queue == this : "asked of another queue";
        return request.next;
    }

    public void add(Request request) {
        assert request.queue == null : "in two queues at once";
        request.queue = this;
        request.previous = last;
        request.next = null;
        if (last == null) {
            first = request;
        } else {
            last.next = request;
        }
        last = request;
    }

    public @Nullable Request poll() {
        Request taken = first;
        if (taken != null) {
            remove(taken);
        }
        return taken;
    }

    public boolean contains(Request request) {
        return request.queue == this;
    }

    public void remove(Request request) {
        assert request.queue == this : "not in this queue";
        Request before = request.previous;
        Request after = request.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
        request.queue = null;
        request.previous = null;
        request.next = null;
    }
}
