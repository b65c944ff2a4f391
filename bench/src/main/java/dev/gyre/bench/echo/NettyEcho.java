package dev.gyre.bench.echo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// Netty's echo server as in its examples, on one event loop that also accepts:
/// `NettyEcho epoll|io_uring`. Default settings except for `TCP_NODELAY`, which every server here
/// sets.
public final class NettyEcho {
    private NettyEcho() {}

    public static void main(String[] args) throws InterruptedException {
        switch (args.length == 1 ? args[0] : "") {
            case "epoll" -> {
                if (available("epoll", Epoll.unavailabilityCause())) {
                    serve(EpollIoHandler.newFactory(), EpollServerSocketChannel.class);
                }
            }
            case "io_uring" -> {
                if (available("io_uring", IoUring.unavailabilityCause())) {
                    serve(IoUringIoHandler.newFactory(), IoUringServerSocketChannel.class);
                }
            }
            default -> {
                System.err.println("usage: NettyEcho epoll|io_uring");
                System.exit(2);
            }
        }
    }

    private static boolean available(String transport, @Nullable Throwable cause) {
        if (cause != null) {
            Announcement.declines("Netty finds no " + transport + ": " + cause);
        }
        return cause == null;
    }

    private static void serve(IoHandlerFactory factory, Class<? extends ServerChannel> type)
            throws InterruptedException {
        Channel listener =
                new ServerBootstrap()
                        .group(new MultiThreadIoEventLoopGroup(1, factory))
                        .channel(type)
                        .childOption(ChannelOption.TCP_NODELAY, true)
                        .childHandler(new Connections())
                        .bind(InetAddress.getLoopbackAddress(), 0)
                        .sync()
                        .channel();
        Announcement.listening(((InetSocketAddress) listener.localAddress()).getPort());
        listener.closeFuture().sync();
    }

    private static final class Connections extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new Echo());
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            // The void promise is the cheapest one.
            var _ = context.write(message, context.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            var _ = context.close();
        }
    }
}
