/// A room in which all hear what one says. Open http://localhost:8080/ twice. Ctrl-C ends it.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

final String PAGE =
        """
        <!doctype html><meta charset="utf-8"><title>Chat</title>
        <form><input autofocus autocomplete="off"></form><pre></pre>
        <script>
          const socket = new WebSocket(location.origin.replace(/^http/, 'ws') + '/chat');
          const [form, input, pre] = ['form', 'input', 'pre'].map(s => document.querySelector(s));
          socket.onmessage = event => pre.prepend(event.data + '\\n');
          form.onsubmit = () => { socket.send(input.value); input.value = ''; return false; };
        </script>
        """;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var room = new Room();
        var server = HttpServer.on(loop);
        server.get("/", (request, response) -> response.html(PAGE));
        server.webSocket("/chat", config(), socket -> enter(room, socket));
        IO.println("listening on " + server.listen(port).address());
        Signals.on(
                loop,
                SIGINT,
                SIGTERM,
                signal -> server.drain(Duration.ofSeconds(5)).thenAccept(nothing -> loop.stop()));
        loop.run();
    }
}

/// Who does not keep up misses something, and holds nobody up.
WebSocketConfig config() {
    return WebSocketConfig.DEFAULT.withMaxMessage(4 << 10).withWhenSlow(WhenSlow.DROP);
}

void enter(Room room, WebSocket socket) {
    room.add(socket);
    room.broadcast("somebody came; there are " + room.size());
    socket.onText(room::broadcast);
    socket.onClose((code, reason) -> room.broadcast("somebody left; there are " + room.size()));
}
