package dev.gyre.internal.backend;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// A kernel for tests: time stands still unless the loop waits or the test moves it, and descriptors are
/// ready when the test says so. A wait with nothing to wait for fails the test instead of hanging it.
public final class ScriptedBackend implements Backend {
    /// One look at the kernel.
    ///
    /// @param blocking whether it was allowed to wait
    public record Poll(boolean blocking, long deadlineNanos) {}

    private record Event(int fd, int ready) {}

    private final Map<Integer, IoHandler> handlers = new HashMap<>();
    private final Deque<Event> upcoming = new ArrayDeque<>();
    private final Deque<Event> collected = new ArrayDeque<>();
    private final Deque<Runnable> duringWaits = new ArrayDeque<>();
    private final List<Poll> polls = new ArrayList<>();
    private long nowNanos;
    private long wakeups;
    private boolean woken;
    private int taken;
    private int closes;

    public ScriptedBackend() {
        this(1_000);
    }

    public ScriptedBackend(long startNanos) {
        nowNanos = startNanos;
    }

    /// Moves the clock.
    public void advance(long nanos) {
        nowNanos += nanos;
    }

    /// Makes a descriptor ready for the next look.
    public void makeReady(int fd, int ready) {
        upcoming.add(new Event(fd, ready));
    }

    /// Something to happen during a blocking wait, as if another thread did it; one for each wait, in order.
    public void duringWait(Runnable happening) {
        duringWaits.add(happening);
    }

    public List<Poll> polls() {
        return polls;
    }

    public int closes() {
        return closes;
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public void pollNow() {
        polls.add(new Poll(false, nowNanos));
        collect();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        polls.add(new Poll(true, deadlineNanos));
        Runnable happening = duringWaits.poll();
        if (happening != null) {
            happening.run();
        } else if (upcoming.isEmpty() && !woken) {
            nowNanos = Math.max(nowNanos, deadlineNanos);
            if (polls.size() > 100_000) {
                throw new AssertionError("the loop waits for ever; script something to wake it");
            }
        }
        collect();
    }

    private void collect() {
        woken = false;
        collected.addAll(upcoming);
        upcoming.clear();
    }

    @Override
    public @Nullable IoHandler takeReady() {
        while (!collected.isEmpty()) {
            Event event = collected.remove();
            IoHandler handler = handlers.get(event.fd());
            if (handler != null) {
                taken = event.ready();
                return handler;
            }
        }
        return null;
    }

    @Override
    public int taken() {
        return taken;
    }

    @Override
    public void wake() {
        woken = true;
        wakeups++;
    }

    @Override
    public long wakeups() {
        return wakeups;
    }

    @Override
    public void register(int fd, int interest, IoHandler handler) {
        handlers.put(fd, handler);
    }

    @Override
    public void modify(int fd, int interest) {}

    @Override
    public void deregister(int fd, IoHandler handler) {
        handlers.remove(fd, handler);
    }

    @Override
    public void close() {
        closes++;
    }
}
