package dev.gyre.internal.base;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

/// Accepts every thread and runs priority tasks at once; a test overrides what it observes.
public class TestLoopContext implements LoopContext {
    private final LoopConfig config;

    public TestLoopContext() {
        this(LoopConfig.DEFAULT);
    }

    public TestLoopContext(LoopConfig config) {
        this.config = config;
    }

    @Override
    public boolean isLoopThread() {
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
    public LoopConfig config() {
        return config;
    }

    @Override
    public void requireConfined(String method) {}

    @Override
    public void requireOpen(String method) {}

    @Override
    public long nowNanos() {
        return 0;
    }

    @Override
    public EventLoop loop() {
        throw new UnsupportedOperationException("this context has no loop");
    }

    @Override
    public void wakeLoop() {}

    @Override
    public boolean mustNotBlock() {
        return true;
    }

    @Override
    public boolean trySubmitPriority(Runnable task) {
        task.run();
        return true;
    }

    @Override
    public void whenTerminated(Runnable action) {
        action.run();
    }
}
