/// Echo over TLS with a self-signed certificate, or `TlsEcho.java 7777 chain.pem key.pem`.
/// SIGUSR1 reloads the files. Press Ctrl-C to stop. Try: `openssl s_client -connect localhost:7777`.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;
import static dev.gyre.os.Signal.SIGUSR1;

import dev.gyre.EventLoop;
import dev.gyre.io.Listener;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;
import dev.gyre.io.Tls;
import dev.gyre.os.Signals;

void main(String[] arguments) throws IOException {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 7777;
    Tls tls =
            arguments.length > 2
                    ? Tls.server(Path.of(arguments[1]), Path.of(arguments[2]))
                    : Tls.selfSigned();
    try (var loop = EventLoop.open()) {
        var address = new InetSocketAddress("localhost", port);
        var config = ListenerConfig.DEFAULT.withTls(tls);
        var server = Listener.on(loop, address, config, this::serve);
        Signals.on(loop, SIGUSR1, signal -> reload(loop, tls));
        Signals.on(loop, SIGINT, SIGTERM, signal -> stop(server, loop));
        IO.println("listening on " + server.address());
        loop.run();
    }
}

/// Drains connections, and resets the remaining ones after five seconds.
void stop(Listener server, EventLoop loop) {
    server.drain(Duration.ofSeconds(5)).thenAccept(report -> loop.shutdown(Duration.ofSeconds(1)));
}

void serve(Stream stream) { // Called after a successful handshake.
    IO.println("connected by " + stream.tls().version());
    stream.onData(stream::write);
}

/// Reads the files off the loop thread. If a file is unusable, nothing changes.
void reload(EventLoop loop, Tls tls) {
    loop.promisify(
                    _ -> {
                        tls.reload();
                        return "certificates reloaded";
                    })
            .recover(failure -> "certificates unchanged: " + failure.getMessage())
            .thenAccept(IO::println);
}
