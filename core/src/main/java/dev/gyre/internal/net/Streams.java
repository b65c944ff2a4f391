package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// The streams and listeners of a loop: what it closes when it ends, and counts.
///
/// Loop thread only.
final class Streams implements AutoCloseable {
    private final Loop loop;
    private final LoopOperations operations;
    private final List<LoopListener> listeners = new ArrayList<>();
    private @Nullable Connection first;
    private boolean over;

    private Streams(Loop loop) {
        this.loop = loop;
        operations = loop.operations();
    }

    /// Those of a loop.
    ///
    /// @param method what they are wanted for, in messages
    static Streams on(EventLoop of, String method) {
        Loop loop = Loop.of(of);
        loop.requireOpen(method);
        Streams known = loop.owned(Streams.class);
        if (known == null) {
            known = new Streams(loop);
            loop.own(known);
        }
        return known;
    }

    EventLoop loop() {
        return loop;
    }

    LoopOperations operations() {
        return operations;
    }

    void requireConfined(String method) {
        loop.requireConfined(method);
    }

    long nowNanos() {
        return loop.nowNanos();
    }

    void add(Connection connection) {
        connection.next = first;
        if (first != null) {
            first.previous = connection;
        }
        first = connection;
        operations.streamCounters().opened();
    }

    void remove(Connection connection, CloseReason why) {
        Connection before = connection.previous;
        Connection after = connection.next;
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after != null) {
            after.previous = before;
        }
        connection.next = null;
        connection.previous = null;
        operations.streamCounters().closed(why);
    }

    void add(LoopListener listener) {
        listeners.add(listener);
    }

    void remove(LoopListener listener) {
        listeners.remove(listener);
    }

    /// Calls a user back outside of any call of its own, and before the loop waits again.
    void tell(Runnable news) {
        if (over) {
            news.run();
        } else {
            loop.microtask(news);
        }
    }

    /// The loop ends: everything is closed, and told so.
    @Override
    public void close() {
        over = true;
        RuntimeException failed = null;
        for (LoopListener listener : List.copyOf(listeners)) {
            listener.close();
        }
        for (Connection each = first; each != null; each = first) {
            try {
                each.closeWith(CloseReason.LOOP_ENDED, null);
            } catch (RuntimeException e) {
                if (failed == null) {
                    failed = e;
                } else {
                    failed.addSuppressed(e);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }
}
