package dev.gyre.bench.streams;

import dev.gyre.EventLoop;
import dev.gyre.bench.echo.GyreServer;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// A proxy with Gyre's streams and default settings: `StreamProxy --backend epoll|io_uring PORT`.
/// The port is that of the target on the loopback interface.
public final class StreamProxy {
    private StreamProxy() {}

    public static void main(String[] args) {
        if (args.length != 3 || !args[0].equals("--backend")) {
            System.err.println("usage: StreamProxy --backend epoll|io_uring PORT");
            System.exit(2);
        }
        int port = Integer.parseInt(args[2]);
        GyreServer.serve(args[1], loop -> listen(loop, port));
    }

    private static int listen(EventLoop loop, int port) {
        InetAddress here = InetAddress.getLoopbackAddress();
        var target = new InetSocketAddress(here, port);
        Listener listener =
                Listener.tcp(loop, new InetSocketAddress(here, 0), in -> forward(in, target));
        return ((InetSocketAddress) listener.address()).getPort();
    }

    private static void forward(Stream in, InetSocketAddress target) {
        var _ =
                Stream.connect(in.loop(), target)
                        .thenAccept(in::join)
                        .recover(
                                _ -> {
                                    in.abort();
                                    return null;
                                });
    }
}
