package dev.gyre.bench;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ReadinessHandler;

import org.jspecify.annotations.Nullable;

/// A backend that polls when it should wait.
///
/// @param beforeWait called before each poll, on the loop thread
record RestlessBackend(Backend backend, Runnable beforeWait) implements Backend {
    @Override
    public String name() {
        return "restless " + backend.name();
    }

    @Override
    public long nanoTime() {
        return backend.nanoTime();
    }

    @Override
    public void pollNow() {
        backend.pollNow();
    }

    @Override
    public void pollUntil(long deadlineNanos) {
        beforeWait.run();
        backend.pollNow();
    }

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return backend.dispatchNext();
    }

    /// No thread sleeps.
    @Override
    public void wake() {}

    @Override
    public long wakeups() {
        return 0;
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        backend.register(fd, interest, handler);
    }

    @Override
    public void modify(int fd, int interest) {
        backend.modify(fd, interest);
    }

    @Override
    public void deregister(int fd, ReadinessHandler handler) {
        backend.deregister(fd, handler);
    }

    @Override
    public void close() {
        backend.close();
    }
}
