package dev.gyre.bench;

import org.jctools.queues.MpscUnboundedArrayQueue;

/// The floor of handing over: the queue that Netty's loops have inside, and a thread that does
/// nothing but empty it. It never sleeps in the kernel, so its producers never look whether to wake
/// it; it knows no timers and no I/O and does not survive a task that throws.
final class JctoolsPeer implements Peer {
    /// Netty's own choice.
    private static final int CHUNK = 1_024;

    /// Looks at an empty queue before the processor is offered to others: producers may be in need
    /// of it.
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
