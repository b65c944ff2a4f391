package dev.gyre.internal.base;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

/// A context without a loop: accepts every thread, and runs nothing.
public class StressLoopContext implements LoopContext {
    @Override
    public EventLoop loop() {
        throw new AssertionError("this context has no loop");
    }

    @Override
    public LoopConfig config() {
        return LoopConfig.DEFAULT;
    }

    @Override
    public long nowNanos() {
        return 0;
    }

    @Override
    public void requireConfined(String method) {}

    @Override
    public void requireOpen(String method) {}

    @Override
    public boolean isLoopThread() {
        return true;
    }

    @Override
    public boolean mustNotBlock() {
        return true;
    }

    @Override
    public boolean isShuttingDown() {
        return false;
    }

    @Override
    public boolean isWatched(int fd) {
        return false;
    }

    @Override
    public void wakeLoop() {}

    @Override
    public boolean trySubmitPriority(Runnable task) {
        throw new AssertionError("this context has no priority lane");
    }

    @Override
    public void whenTerminated(Runnable action) {
        throw new AssertionError("this context does not terminate");
    }
}
