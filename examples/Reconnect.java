/// Prints the lines of a TCP server, and reconnects: `Reconnect.java localhost 7777`.
/// Press Ctrl-C to stop.
import module dev.gyre;

import dev.gyre.io.Stream;

final Duration minPause = Duration.ofMillis(100);
final Duration maxPause = Duration.ofSeconds(10);

void main(String[] arguments) {
    var server = InetSocketAddress.createUnresolved(arguments[0], Integer.parseInt(arguments[1]));
    try (var loop = EventLoop.open()) {
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, _ -> loop.shutdown(Duration.ofSeconds(1)));
        connect(loop, server, minPause);
        loop.run();
    }
}

void connect(EventLoop loop, SocketAddress server, Duration pause) {
    Stream.connect(loop, server)
            .thenAccept(stream -> read(stream, server))
            .onRejected(failure -> retry(loop, server, pause, failure.getMessage()));
}

void read(Stream stream, SocketAddress server) {
    IO.println("connected");
    stream.onData(data -> IO.print(data.getText(StandardCharsets.UTF_8)));
    stream.onClose(reason -> retry(stream.loop(), server, minPause, "closed: " + reason));
}

/// The end of the loop closes all streams too. It must not cause a new connection.
void retry(EventLoop loop, SocketAddress server, Duration pause, String reason) {
    if (loop.state().isShuttingDown()) return;
    IO.println(reason + "; retrying in " + pause.toMillis() + " ms");
    var next = pause.multipliedBy(2);
    var nextPause = next.compareTo(maxPause) < 0 ? next : maxPause;
    loop.after(pause, _ -> connect(loop, server, nextPause));
}
