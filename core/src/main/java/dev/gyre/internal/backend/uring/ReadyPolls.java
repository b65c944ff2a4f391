package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.UringCalls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/// Completed polls that are not dispatched yet. They are copied out of the ring, which may be
/// closed before the dispatch.
///
/// A completion reports the state when the poll was woken, and only the direction that changed. A
/// callback, or code between two runs, may have read or written since. epoll queries the files
/// again on each wait. One `poll(2)` confirms all collected events here in the same way.
///
/// Loop thread only.
final class ReadyPolls {
    private static final int IGNORED = -1;

    private final UringCalls calls;
    private final @Nullable PollRegistration[] polls;
    private final int[] bits;
    private final MemorySegment pollfds;
    private int collected;
    private int confirmed;
    private int next;

    ReadyPolls(UringCalls calls, int capacity) {
        this.calls = calls;
        polls = new @Nullable PollRegistration[capacity];
        bits = new int[capacity];
        pollfds = Memory.allocate((long) capacity * Linux.SIZEOF_POLLFD);
    }

    boolean isEmpty() {
        return next == collected;
    }

    boolean isFull() {
        return collected == polls.length && next < collected;
    }

    /// Adds one.
    ///
    /// @param failed whether the kernel refused the poll, which asking again would not show
    /// @return false if there is no room
    boolean add(PollRegistration poll, int ready, boolean failed) {
        if (poll.reported) {
            return true;
        }
        if (next == collected) {
            next = 0;
            confirmed = 0;
            collected = 0;
        }
        if (collected == polls.length) {
            return false;
        }
        poll.reported = true;
        polls[collected] = poll;
        bits[collected] = ready;
        long pollfd = pollfd(collected++);
        Memory.putInt(pollfd, failed ? IGNORED : poll.fd);
        Memory.putShort(
                pollfd + Linux.OFFSETOF_POLLFD_EVENTS,
                PollRegistration.isEmpty(poll.wanted())
                        ? 0
                        : PollRegistration.kernelBits(poll.wanted()));
        Memory.putShort(pollfd + Linux.OFFSETOF_POLLFD_REVENTS, 0);
        return true;
    }

    private long pollfd(int index) {
        return pollfds.address() + (long) index * Linux.SIZEOF_POLLFD;
    }

    /// Drops events added since the last call that no longer hold, and completes the rest. Rearms
    /// dropped one-shot polls, because they were not reported.
    void confirm(Polls armed) {
        int from = confirmed;
        if (from == collected || calls.poll(pollfd(from), collected - from) < 0) {
            confirmed = collected; // poll(2) failed: keep the events of the completions.
            return;
        }
        for (int i = from; i < collected; i++) {
            PollRegistration poll = polls[i];
            int ready = bits[i];
            long pollfd = pollfd(i);
            if (Memory.getInt(pollfd) != IGNORED) {
                int revents = Memory.getShort(pollfd + Linux.OFFSETOF_POLLFD_REVENTS);
                ready = revents & Readiness.EVENTS;
            }
            polls[i] = null;
            if (ready != 0) {
                polls[confirmed] = poll;
                bits[confirmed++] = ready;
            } else if (poll != null) {
                poll.reported = false;
                if (PollRegistration.isOneShot(poll.armedFor)) {
                    armed.again(poll);
                }
            }
        }
        collected = confirmed;
    }

    /// Dispatches the next one that is still registered.
    @Nullable ReadinessHandler dispatchNext() {
        while (next < collected) {
            PollRegistration poll = polls[next];
            int events = bits[next];
            polls[next++] = null;
            if (poll != null) {
                poll.reported = false;
                if (!poll.isRemoved()) {
                    poll.handler.onReady(events);
                    return poll.handler;
                }
            }
        }
        return null;
    }
}
