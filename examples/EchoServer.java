/// Echoes all input: a TCP server in one line. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.io.Listener;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 7777;
    try (var loop = EventLoop.open()) {
        var address = new InetSocketAddress("localhost", port);
        var server = Listener.tcp(loop, address, stream -> stream.onData(stream::write));
        Signals.on(loop, SIGINT, SIGTERM, signal -> stop(server, loop));
        IO.println("listening on " + server.address());
        loop.run();
    }
}

/// Drains connections, and resets the remaining ones after five seconds.
void stop(Listener server, EventLoop loop) {
    server.drain(Duration.ofSeconds(5)).thenAccept(report -> loop.shutdown(Duration.ofSeconds(1)));
}
