package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;

import org.jspecify.annotations.Nullable;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Queues messages that other threads broadcast to the sockets of one loop, for all
/// WebSocketGroups. FIFO. Bounded to a quarter of the loop's heap budget.
final class GroupInbox {
    /// The memory of an entry without its message.
    private static final int ENTRY_BYTES = 64;

    /// After this many deliveries the loop runs other callbacks.
    private static final int MAX_PER_TICK = 1_024;

    private record Entry(Runnable delivery, long bytes) {}

    private final long limitBytes;

    // Shared: by all threads. Entries without bytes are not counted.
    private final Queue<Entry> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queuedBytes = new AtomicLong();

    /// Whether the loop will call [#deliver]. Set after an entry is added, and cleared before the
    /// queue is read, so no entry waits without a call.
    private final AtomicBoolean scheduled = new AtomicBoolean();

    // Loop thread only.
    private boolean delivering;
    private boolean warned;

    GroupInbox(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /// Enqueues a delivery if there is room. An empty queue has room for any message. Any thread.
    ///
    /// @param loop the loop of this queue; the queue does not refer to it, so it can be collected
    /// @throws dev.gyre.LoopTerminatedException if the loop is terminated
    boolean offer(EventLoop loop, Runnable delivery, long messageBytes) {
        long bytes = ENTRY_BYTES + messageBytes;
        long before = queuedBytes.getAndAdd(bytes);
        if (before > 0 && before + bytes > limitBytes) {
            queuedBytes.addAndGet(-bytes);
            return false;
        }
        add(loop, new Entry(delivery, bytes));
        return true;
    }

    /// Enqueues a notification, of which each group has one at most, regardless of the limit. Any
    /// thread.
    ///
    /// @throws dev.gyre.LoopTerminatedException if the loop is terminated
    void notify(EventLoop loop, Runnable notification) {
        add(loop, new Entry(notification, 0));
    }

    private void add(EventLoop loop, Entry entry) {
        queue.add(entry);
        if (!scheduled.getAndSet(true)) {
            loop.submitPriority(() -> deliver(loop));
        }
    }

    private void deliver(EventLoop loop) {
        scheduled.set(false);
        try {
            deliver(MAX_PER_TICK, null);
        } finally {
            if (!queue.isEmpty() && !scheduled.getAndSet(true)) {
                loop.defer(() -> deliver(loop));
            }
        }
    }

    /// Delivers all present entries, before a message of the loop itself. Thus a publisher that
    /// moved to this loop keeps its order. Other threads may add entries without end. Loop thread
    /// only.
    void deliverAll() {
        if (!delivering && !queue.isEmpty()) {
            Entry last = new Entry(() -> {}, 0);
            queue.add(last);
            deliver(Integer.MAX_VALUE, last);
        }
    }

    /// @param last the entry after which it returns
    @SuppressWarnings("ReferenceEquality") // identity of the entry
    private void deliver(int max, @Nullable Entry last) {
        if (delivering) {
            return; // Inside a delivery.
        }
        delivering = true;
        try {
            for (int i = 0; i < max; i++) {
                Entry next = queue.poll();
                if (next == null || next == last) {
                    return;
                }
                queuedBytes.addAndGet(-next.bytes);
                next.delivery.run();
            }
        } finally {
            delivering = false;
        }
    }

    /// Logs once per loop that messages were lost. Loop thread only.
    void warnOfLimit(EventLoop loop, long missed) {
        if (!warned) {
            warned = true;
            System.getLogger("dev.gyre.http")
                    .log(
                            System.Logger.Level.WARNING,
                            "loop %s missed %d messages of a WebSocketGroup: more than %d bytes"
                                            .formatted(loop.config().name(), missed, limitBytes)
                                    + " waited for it. Publish more slowly, or move long work off"
                                    + " the loop. This is logged once per loop");
        }
    }
}
