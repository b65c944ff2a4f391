package dev.gyre.bench;

import org.jctools.queues.MpscUnboundedArrayQueue;

/// The floor of a hand-over: the queue used inside Netty's loops, and a thread that only drains it.
/// It never sleeps in the kernel, so producers never check whether to wake it. It has no timers and
/// no I/O, and a task that throws ends it.
final class JctoolsPeer implements Peer {
    /// The same as in Netty.
    private static final int CHUNK = 1_024;

    /// The number of polls of an empty queue before it yields the processor to producers.
    private static final int SPINS = 1_000;

    private final MpscUnboundedArrayQueue<Runnable> queue = new MpscUnboundedArrayQueue<>(CHUNK);
    private final Thread thread = Thread.ofPlatform().name("jctools").daemon().start(this::drain);
    private volatile boolean closed;

    @Override
    public void execute(Runnable task) {
        queue.offer(task);
    }

    @SuppressWarnings("ThreadPriorityCheck") // a courtesy, nothing relies on it
    private void drain() {
        int idle = 0;
        while (!closed) {
            Runnable task = queue.poll();
            if (task != null) {
                task.run();
                idle = 0;
            } else if (++idle < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        Threads.join(thread);
    }
}
