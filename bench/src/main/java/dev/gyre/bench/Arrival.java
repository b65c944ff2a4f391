package dev.gyre.bench;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.locks.LockSupport;

/// A task that its producer waits for.
///
/// A producer that has a processor to itself spins: the wait then costs nothing that is not the
/// peer's. Where producers share processors with the peer's thread, a spinning one would take from
/// the thread it waits for, and they park. Which it is follows from the benchmark and the machine,
/// not from the peer.
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

    /// Hands this task to the peer and waits until it has run, and with it all tasks before it.
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
