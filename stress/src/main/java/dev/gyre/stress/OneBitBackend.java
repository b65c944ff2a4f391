package dev.gyre.stress;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ReadinessHandler;

import org.jspecify.annotations.Nullable;

/// A kernel with one bit: whether it was woken. It detects a wait that no thread will end.
///
/// A wait lasts until [#wake], for the clock stands still. The other actor says when it is done
/// ([#leaveAlone]); a loop that then waits and was not woken would wait for ever: it has
/// *overslept*.
public final class OneBitBackend implements Backend {
    public static final String AWAKE = "did not sleep";
    public static final String WOKEN = "slept until woken";
    public static final String OVERSLEPT = "overslept";

    // Shared: set by the waking thread, cleared by the loop's actor.
    private volatile boolean woken;
    // Shared: set by the other actor.
    private volatile boolean alone;

    // Shared: set by one actor, read by all.
    private volatile long nowNanos;

    // The loop's actor only, then the arbiter.
    private String sleep = AWAKE;
    private int closes;

    /// The other actor, at its end: it will not wake the loop any more.
    public void leaveAlone() {
        alone = true;
    }

    /// One actor: what the clock says from now on.
    public void setTime(long nanos) {
        nowNanos = nanos;
    }

    /// The arbiter: how the loop slept.
    public String sleep() {
        return sleep;
    }

    /// The arbiter: how often it was closed.
    public int closes() {
        return closes;
    }

    @Override
    public String name() {
        return "one bit";
    }

    @Override
    public long nanoTime() {
        return nowNanos;
    }

    @Override
    public void pollNow() {
        woken = false;
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        if (deadlineNanos - nowNanos <= 0) {
            woken = false;
            return; // It needs no wake-up.
        }
        if (sleep.equals(OVERSLEPT)) {
            throw new IllegalStateException("asleep for ever");
        }
        sleep = WOKEN;
        SpinTimeout timeout = new SpinTimeout();
        while (!woken) {
            // The order matters: an actor wakes the loop before it leaves.
            if ((alone && !woken) || timeout.isOver()) {
                sleep = OVERSLEPT;
                return;
            }
        }
        woken = false;
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return null;
    }

    @Override
    public void wake() {
        woken = true;
    }

    @Override
    public long wakeups() {
        return 0;
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        throw new UnsupportedOperationException("register " + fd);
    }

    @Override
    public void modify(int fd, int interest) {}

    @Override
    public void deregister(int fd, ReadinessHandler handler) {}

    @Override
    public void close() {
        closes++;
    }
}
