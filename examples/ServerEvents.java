/// Server-sent events: the time, ten times per second. Try: `curl -N localhost:8080/time`.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.get("/time", this::time);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(
                loop,
                SIGINT,
                SIGTERM,
                signal -> server.drain(Duration.ofSeconds(5)).thenAccept(nothing -> loop.stop()));
        loop.run();
    }
}

Promise<?> time(Request request, Response response) {
    var events = response.events();
    var timer = request.loop().every(Duration.ofMillis(100), _ -> send(events));
    events.onClose(timer::cancel);
    return events.closed();
}

void send(EventStream events) {
    boolean writable = events.sendJson("time", LocalTime.now());
    if (!writable) {
        events.close(); // A browser reconnects by itself.
    }
}
