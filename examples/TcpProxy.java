/// Forwards connections: `TcpProxy.java 8080 example.org 80`. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = Integer.parseInt(arguments[0]);
    var target = InetSocketAddress.createUnresolved(arguments[1], Integer.parseInt(arguments[2]));
    try (var loop = EventLoop.open()) {
        var address = new InetSocketAddress("localhost", port);
        var proxy = Listener.tcp(loop, address, in -> passOn(in, target));
        Signals.on(loop, SIGINT, SIGTERM, signal -> stop(proxy, loop));
        IO.println("listening on " + proxy.address());
        loop.run();
    }
}

/// Drains connections, and resets the remaining ones after five seconds.
void stop(Listener proxy, EventLoop loop) {
    proxy.drain(Duration.ofSeconds(5)).thenAccept(report -> loop.shutdown(Duration.ofSeconds(1)));
}

/// Client input stays in the kernel until the target connects.
void passOn(Stream in, SocketAddress target) {
    Stream.connect(in.loop(), target)
            .thenAccept(out -> join(in, out))
            .recover(failure -> refuse(in, failure));
}

void join(Stream in, Stream out) {
    if (in.isOpen()) {
        in.join(out); // Both directions, with backpressure.
    } else {
        out.abort(); // The client disconnected meanwhile.
    }
}

Void refuse(Stream in, Throwable failure) {
    IO.println("refused: " + failure.getMessage());
    in.abort(); // A normal close could pass for a complete response.
    return null;
}
