package dev.gyre.bench;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;

import java.util.concurrent.TimeUnit;

/// A group of one Netty event loop.
final class NettyPeer implements Peer {
    private final MultiThreadIoEventLoopGroup group;
    private final IoEventLoop loop;

    NettyPeer(IoHandlerFactory factory) {
        group = new MultiThreadIoEventLoopGroup(1, factory);
        loop = group.next();
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
