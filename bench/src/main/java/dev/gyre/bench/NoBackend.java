package dev.gyre.bench;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ReadinessHandler;

import org.jspecify.annotations.Nullable;

/// A backend without events and without cost.
final class NoBackend implements Backend {
    @Override
    public String name() {
        return "none";
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void pollNow() {}

    @Override
    public void pollUntil(long deadlineNanos) {}

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return null;
    }

    @Override
    public void wake() {}

    @Override
    public long wakeups() {
        return 0;
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        throw new UnsupportedOperationException("there is no descriptor " + fd + " here");
    }

    @Override
    public void modify(int fd, int interest) {}

    @Override
    public void deregister(int fd, ReadinessHandler handler) {}

    @Override
    public void close() {}
}
