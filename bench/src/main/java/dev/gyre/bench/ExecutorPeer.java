package dev.gyre.bench;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The JDK's single-thread executor, over a linked queue with locks.
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
