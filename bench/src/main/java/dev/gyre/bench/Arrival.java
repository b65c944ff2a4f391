package dev.gyre.bench;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.LockSupport;

/// A task that its producer waits for.
///
/// A producer with a processor of its own spins, which adds no cost. Producers that share
/// processors with the consumer's thread park, because spinning would take time from it. The choice
/// depends on the benchmark and the machine, not on the implementation.
final class Arrival implements Runnable {
    // Written before the task is handed over, read by the task.
    private @Nullable Thread parked;

    // Shared: set by the task, cleared by the producer.
    private volatile boolean arrived;

    @Override
    public void run() {
        Thread producer = parked;
        arrived = true;
        if (producer != null) {
            LockSupport.unpark(producer);
        }
    }

    /// Submits this task and waits until it has run, and all tasks before it.
    void executeAndSpin(Peer peer) {
        peer.execute(this);
        while (!arrived) {
            Thread.onSpinWait();
        }
        arrived = false;
    }

    void executeAndPark(Peer peer) {
        parked = Thread.currentThread();
        peer.execute(this);
        while (!arrived) {
            LockSupport.park(this);
        }
        arrived = false;
    }
}
