package dev.gyre.bench;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.metrics.LoopObserver;

/// A Gyre loop on its own thread, with default settings except for the observer: the default one
/// would log the large bursts of tasks.
final class GyrePeer implements Peer {
    final EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
    final Thread thread = Thread.ofPlatform().name("gyre").daemon().start(loop::run);

    @Override
    public void execute(Runnable task) {
        loop.submit(task);
    }

    @Override
    public void close() {
        loop.close();
    }
}
