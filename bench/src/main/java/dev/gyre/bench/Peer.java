package dev.gyre.bench;

import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.uring.IoUringIoHandler;

/// One thread that runs tasks of other threads. Each implementation has its default settings.
///
/// A process opens only one kind. So one implementation of this interface is loaded, and the JIT
/// calls it directly: the interface costs nothing.
interface Peer extends AutoCloseable {
    String GYRE = "gyre";
    String NETTY_EPOLL = "netty-epoll";
    String NETTY_URING = "netty-io_uring";
    String JCTOOLS = "jctools";
    String EXECUTOR = "executor";
    String JAVA = "java";

    /// Runs the task on the consumer's thread, in the order of submission.
    void execute(Runnable task);

    /// Returns once the consumer's thread has ended.
    @Override
    void close();

    static Peer open(String name) {
        return switch (name) {
            case GYRE -> new GyrePeer();
            case NETTY_EPOLL -> new NettyPeer(EpollIoHandler.newFactory());
            case NETTY_URING -> new NettyPeer(IoUringIoHandler.newFactory());
            case JCTOOLS -> new JctoolsPeer();
            case EXECUTOR -> new ExecutorPeer();
            case JAVA -> new JavaPeer();
            default -> throw new IllegalArgumentException("no such peer: " + name);
        };
    }
}
