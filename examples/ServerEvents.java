/// The time, ten times a second, to as many browsers as want it. Try it: `curl -N localhost:8080/time`.
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
    var timer = request.loop().every(Duration.ofMillis(100), _ -> tell(events));
    events.onClose(timer::cancel);
    return events.closed();
}

void tell(EventStream events) {
    boolean keepsUp = events.send("time", null, LocalTime.now().toString());
    if (!keepsUp) {
        events.close(); // A browser comes again by itself.
    }
}
