/// HTTPS with a self-signed certificate, or `HttpsServer.java 8443 chain.pem key.pem`.
/// Try: `curl -k https://localhost:8443/`. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;
import dev.gyre.io.Tls;
import dev.gyre.os.Signals;

void main(String[] arguments) throws IOException {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8443;
    Tls tls =
            arguments.length > 2
                    ? Tls.server(Path.of(arguments[1]), Path.of(arguments[2]))
                    : Tls.selfSigned();
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.get(
                "/",
                (request, response) ->
                        response.text("connected with " + request.tls().version() + "\n"));
        IO.println("listening on " + server.listen(port, tls).uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}
