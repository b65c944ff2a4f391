/// Echoes UDP datagrams. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.io.Datagram;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 7777;
    try (var loop = EventLoop.open()) {
        var echo = Datagram.bind(loop, new InetSocketAddress("localhost", port));
        echo.onMessage((message, from) -> echo.send(message, from))
                .onError(failure -> IO.println("network error: " + failure.getMessage()))
                .onClose(() -> IO.println(echo.sent() + " sent, " + echo.dropped() + " dropped"));
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.shutdown(Duration.ofSeconds(5)));
        IO.println("listening on " + echo.address());
        loop.run();
    }
}
