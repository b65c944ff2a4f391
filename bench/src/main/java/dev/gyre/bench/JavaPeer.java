package dev.gyre.bench;

import org.jspecify.annotations.Nullable;

/// `wake.c` in Java: a thread in a bare `epoll_wait`, woken by every task. The difference to the C
/// program is the cost of the JVM, the difference to Gyre the cost of the loop.
///
/// Accepts one task at a time.
final class JavaPeer implements Peer {
    private final BareEpoll epoll = new BareEpoll();
    private final Thread thread = Thread.ofPlatform().name("java").daemon().start(this::serve);
    private volatile @Nullable Runnable task;
    private volatile boolean closed;

    @Override
    public void execute(Runnable command) {
        task = command;
        epoll.wake();
    }

    private void serve() {
        while (!closed) {
            epoll.pollForEver();
            Runnable command = task;
            if (command != null) {
                command.run();
            }
        }
    }

    @Override
    public void close() {
        task = null;
        closed = true;
        epoll.wake();
        Threads.join(thread);
        epoll.close();
    }
}
