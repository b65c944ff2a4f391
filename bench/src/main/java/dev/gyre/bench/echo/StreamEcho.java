package dev.gyre.bench.echo;

import dev.gyre.EventLoop;
import dev.gyre.io.Listener;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// An echo server with Gyre's streams, as in their documentation.
public final class StreamEcho {
    private StreamEcho() {}

    public static void main(String[] args) {
        String backend = args.length == 2 && args[0].equals("--backend") ? args[1] : "";
        switch (backend) {
            case "epoll", "io_uring" -> GyreServer.serve(backend, StreamEcho::listen);
            default -> {
                System.err.println("usage: StreamEcho --backend epoll|io_uring");
                System.exit(2);
            }
        }
    }

    private static int listen(EventLoop loop) {
        var anywhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Listener listener = Listener.tcp(loop, anywhere, stream -> stream.onData(stream::write));
        return ((InetSocketAddress) listener.address()).getPort();
    }
}
