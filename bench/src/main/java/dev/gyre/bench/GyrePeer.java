package dev.gyre.bench;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.metrics.LoopObserver;

/// A Gyre loop on a thread of its own, with the default settings but for the observer: the default
/// one would log that tasks come in large bursts, as they do here.
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
