package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.internal.backend.RequestHost;
import dev.gyre.internal.io.OperationHost;
import dev.gyre.internal.io.WatchHost;
import dev.gyre.internal.promise.PromiseHost;
import dev.gyre.internal.time.TimerHost;

/// The loop as its timers, watchers, operations and promises see it.
final class Host implements TimerHost, WatchHost, PromiseHost, RequestHost, OperationHost {
    private final Loop loop;

    Host(Loop loop) {
        this.loop = loop;
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public LoopConfig config() {
        return loop.config();
    }

    @Override
    public void requireConfined(String method) {
        loop.requireConfinedLoop(method);
    }

    @Override
    public void requireOpen(String method) {
        loop.requireOpenLoop(method);
    }

    @Override
    public long nowNanos() {
        return loop.nowNanos();
    }

    @Override
    public void lookAgain() {
        loop.lookAgain();
    }

    @Override
    public boolean isHere() {
        return loop.isLoopThread();
    }

    @Override
    public boolean isWatched(int fd) {
        return loop.isWatched(fd);
    }

    @Override
    public boolean isEnding() {
        LoopState state = loop.state();
        return state == LoopState.TERMINATING || state == LoopState.TERMINATED;
    }

    @Override
    public boolean isNeededHere() {
        return loop.isNeededHere();
    }

    @Override
    public boolean submitPriority(Runnable task) {
        return loop.trySubmitPriority(task);
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the action does not fail
    public void whenOver(Runnable action) {
        loop.outcome().whenComplete((report, failure) -> action.run());
    }
}
