package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.tls.RecordScratch;
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
    private final HandshakeWork handshakes;
    private final RecordScratch records = new RecordScratch();
    private final List<LoopListener> listeners = new ArrayList<>();
    private final DeferredNotifications news;
    private @Nullable Connection first;
    private boolean over;

    private Streams(Loop loop) {
        this.loop = loop;
        operations = loop.operations();
        news = new DeferredNotifications(loop);
        handshakes = new HandshakeWork(loop, this::tell);
    }

    /// Those of a loop.
    ///
    /// @param method what they are wanted for, in messages
    static Streams on(EventLoop of, String method) {
        Loop loop = Loop.of(of);
        loop.requireOpenWithStack(method);
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

    HandshakeWork handshakes() {
        return handshakes;
    }

    RecordScratch records() {
        return records;
    }

    void requireConfined(String method) {
        loop.requireConfinedWithStack(method);
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

    /// Resets the open connections that a listener has accepted.
    CutStreams cutAcceptedBy(LoopListener listener) {
        CutStreams cut = new CutStreams();
        Connection after;
        for (Connection each = first; each != null; each = after) {
            after = each.next;
            if (each.isAcceptedBy(listener)) {
                cut.add(each);
                each.closeWith(CloseReason.ABORTED, null);
            }
        }
        return cut;
    }

    /// Whether the loop has ended, and everything with it.
    boolean isOver() {
        return over;
    }

    /// Calls a user back outside of any call of its own, and before the loop waits again.
    void tell(Runnable told) {
        if (over) {
            told.run();
        } else {
            news.add(told);
        }
    }

    /// The loop ends: everything is closed, and told so.
    @Override
    public void close() {
        over = true;
        List<RuntimeException> failed = new ArrayList<>();
        while (!news.isEmpty()) {
            attempt(news::tellNext, failed); // Whose microtask was dropped.
        }
        for (LoopListener listener : List.copyOf(listeners)) {
            listener.close();
        }
        CutStreams cut = new CutStreams();
        for (Connection each = first; each != null; each = each.next) {
            if (each.output.isUnfinished()) {
                cut.add(each);
            }
        }
        for (Connection each = first; each != null; each = first) {
            Connection last = each;
            attempt(() -> last.closeWith(CloseReason.LOOP_ENDED, null), failed);
        }
        cut.log("Loop " + loop.config().name());
        operations.endTick(); // What was lent and is not under way goes back now.
        if (!failed.isEmpty()) {
            RuntimeException thrown = failed.removeFirst();
            failed.forEach(thrown::addSuppressed);
            throw thrown;
        }
    }

    private static void attempt(Runnable last, List<RuntimeException> failed) {
        try {
            last.run();
        } catch (RuntimeException e) {
            failed.add(e);
        }
    }
}
