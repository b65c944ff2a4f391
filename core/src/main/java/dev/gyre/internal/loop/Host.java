package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.internal.io.WatchHost;
import dev.gyre.internal.time.TimerHost;

/// The loop as its timers and watchers see it.
final class Host implements TimerHost, WatchHost {
    private final Loop loop;

    Host(Loop loop) {
        this.loop = loop;
    }

    @Override
    public void requireConfined(String method) {
        loop.requireConfined(method);
    }

    @Override
    public void requireOpen(String method) {
        loop.requireOpen(method);
    }

    @Override
    public long nowNanos() {
        return loop.nowNanos();
    }

    @Override
    public EventLoop loop() {
        return loop;
    }

    @Override
    public void lookAgain() {
        loop.lookAgain();
    }
}
