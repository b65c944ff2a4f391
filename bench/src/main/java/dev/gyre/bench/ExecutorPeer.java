package dev.gyre.bench;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// What the JDK has: a thread pool of one, over a linked queue with locks. A familiar point on the
/// scale.
final class ExecutorPeer implements Peer {
    private final ExecutorService executor = Executors.newFixedThreadPool(1);

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    @Override
    public void close() {
        executor.close();
    }
}
