package dev.gyre.internal.backend;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.Opcode.Kind;

import java.util.ArrayList;
import java.util.List;

/// Edge-triggered interest of the descriptors, and the readiness that is known from past edges.
///
/// A descriptor stays registered for all its operations, so a connection costs one registration. A
/// reported edge is not reported again. `blocked` therefore remembers, per kind, whether a call
/// would block. Four rules keep that sound:
///
/// - A kind is marked blocked only after EAGAIN, or after a short read, which has drained the
///   stream. Data that arrives later is a new edge.
/// - Once the end, an error or urgent data was reported, a short read no longer counts as drained:
///   it stops there, and that edge is not reported again.
/// - Arming a kind makes the kernel report it again if it is ready.
/// - If a call would block although readiness was reported and no call has consumed it, the report
///   may be stale. The kind is armed again, because an edge is reported once.
///
/// Interest in a kind that was ready twice without a waiting request is dropped, so that unread
/// input does not keep waking the loop.
///
/// Changes are collected and passed to the backend once per tick, by [#flush].
///
/// Loop thread only.
final class EdgeTriggeredInterest {
    private final Backend backend;
    private final CompletionQueue completions;
    private final DescriptorPool descriptors;

    /// Descriptors whose interest may have changed since the last flush.
    private final List<DescriptorState> dirty = new ArrayList<>();

    EdgeTriggeredInterest(
            Backend backend, CompletionQueue completions, DescriptorPool descriptors) {
        this.backend = backend;
        this.completions = completions;
        this.descriptors = descriptors;
    }

    static boolean isBlocked(DescriptorState descriptor, Kind kind) {
        return (descriptor.blocked & kind.bit) != 0;
    }

    static void onReady(DescriptorState descriptor, Kind kind) {
        descriptor.blocked &= ~kind.bit;
        descriptor.exhausted &= ~kind.bit;
    }

    /// Records that a short read has drained the descriptor: the next call waits for a new edge.
    static void onDrained(DescriptorState descriptor, Kind kind) {
        descriptor.blocked |= kind.bit;
    }

    /// Records a call that did not block.
    ///
    /// @param exhausted whether the next call is expected to block
    static void onPerformed(DescriptorState descriptor, Kind kind, boolean exhausted) {
        if (exhausted) {
            descriptor.exhausted |= kind.bit;
        } else {
            descriptor.exhausted &= ~kind.bit;
        }
    }

    /// Records a call that would block, and arms the kind again if no call has consumed the
    /// readiness that was reported.
    ///
    /// @param consumed whether this call transferred a part before it would block
    void onWouldBlock(DescriptorState descriptor, Kind kind, boolean consumed) {
        descriptor.blocked |= kind.bit;
        if (!consumed
                && kind != Kind.URGENT
                && (descriptor.exhausted & kind.bit) == 0
                && (descriptor.armed & kind.bit) != 0) {
            descriptor.armed &= ~kind.bit;
            markDirty(descriptor);
        }
    }

    /// Records readiness for which no request waits. The second time, the interest is dropped.
    void onUnwantedReadiness(DescriptorState descriptor, Kind kind) {
        if ((descriptor.wanted & kind.bit) == 0) {
            return;
        }
        if ((descriptor.unwanted & kind.bit) == 0) {
            descriptor.unwanted |= kind.bit;
        } else {
            descriptor.wanted &= ~kind.bit;
            markDirty(descriptor);
        }
    }

    /// Forgets what is armed and what would block: the kernel may have dropped its filters. The
    /// next request is tried, and arms its kind again if it blocks.
    static void reset(DescriptorState descriptor) {
        descriptor.blocked = 0;
        descriptor.wanted = 0;
        descriptor.armed = 0;
    }

    /// Arms a kind with the next flush, unless it is armed.
    void want(DescriptorState descriptor, Kind kind) {
        descriptor.unwanted &= ~kind.bit;
        if ((descriptor.wanted & kind.bit) == 0) {
            descriptor.wanted |= kind.bit;
            markDirty(descriptor);
        }
    }

    private void markDirty(DescriptorState descriptor) {
        if (!descriptor.dirty) {
            descriptor.dirty = true;
            dirty.add(descriptor);
        }
    }

    /// Passes the changed interest to the backend.
    void flush() {
        for (int i = 0; i < dirty.size(); i++) {
            DescriptorState descriptor = dirty.get(i);
            descriptor.dirty = false;
            if (descriptor.released == null && withEnd(descriptor.wanted) != descriptor.armed) {
                arm(descriptor);
            }
            descriptors.releaseIfUnused(descriptor);
        }
        dirty.clear();
    }

    /// Adds the end to an interest in reads: a read that stops short at the end must be notified of
    /// it.
    private static int withEnd(int wanted) {
        return (wanted & Readiness.READ) != 0 ? wanted | Readiness.END : wanted;
    }

    private void arm(DescriptorState descriptor) {
        int wanted = withEnd(descriptor.wanted);
        int interest = wanted == 0 ? 0 : wanted | Readiness.EDGE;
        try {
            if (descriptor.registered) {
                backend.modify(descriptor.fd, interest);
            } else {
                backend.register(descriptor.fd, interest, descriptor);
                descriptor.registered = true;
            }
            descriptor.armed = wanted;
        } catch (SystemCallException e) {
            // The queued requests would wait forever.
            descriptor.wanted = 0;
            descriptor.armed = 0;
            completions.postAll(descriptor, -e.errno());
        }
    }

    /// Deregisters a descriptor that is closed.
    void deregister(DescriptorState descriptor) {
        if (descriptor.registered) {
            descriptor.registered = false;
            backend.deregister(descriptor.fd, descriptor);
        }
    }
}
