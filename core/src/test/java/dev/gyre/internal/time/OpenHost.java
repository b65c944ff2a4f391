package dev.gyre.internal.time;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.internal.backend.RequestHost;
import dev.gyre.internal.io.OperationHost;
import dev.gyre.internal.io.WatchHost;
import dev.gyre.internal.promise.PromiseHost;

/// A loop that lets everyone pass.
public final class OpenHost
        implements TimerHost, WatchHost, PromiseHost, RequestHost, OperationHost {
    @Override
    public boolean isHere() {
        return true;
    }

    @Override
    public boolean isEnding() {
        return false;
    }

    @Override
    public boolean isWatched(int fd) {
        return false;
    }

    @Override
    public LoopConfig config() {
        return LoopConfig.DEFAULT;
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
        throw new UnsupportedOperationException("there is no loop behind these timers");
    }

    @Override
    public void lookAgain() {}

    @Override
    public boolean isNeededHere() {
        return true;
    }

    @Override
    public boolean submitPriority(Runnable task) {
        task.run();
        return true;
    }

    @Override
    public void whenOver(Runnable action) {
        action.run();
    }
}
