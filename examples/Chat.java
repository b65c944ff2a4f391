/// Rooms in which all hear what one says. Open http://localhost:8080/ twice, or /#tea for another room. Ctrl-C ends it.
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
          const room = location.hash.slice(1) || 'lobby', name = prompt('Your name?') || 'somebody';
          const socket = new WebSocket(
            location.origin.replace(/^http/, 'ws') + `/chat/${room}?name=` + encodeURIComponent(name));
          const [form, input, pre] = ['form', 'input', 'pre'].map(s => document.querySelector(s));
          socket.onmessage = event => pre.prepend(event.data + '\\n');
          form.onsubmit = () => { socket.send(input.value); input.value = ''; return false; };
        </script>
        """;

final Map<String, Room> rooms = new HashMap<>();

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.get("/", (request, response) -> response.html(PAGE));
        server.webSocket("/chat/{room}", config(), this::enter);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(
                loop,
                SIGINT,
                SIGTERM,
                signal -> server.drain(Duration.ofSeconds(5)).thenAccept(nothing -> loop.stop()));
        loop.run();
    }
}

WebSocketConfig config() {
    return WebSocketConfig.DEFAULT.withMaxMessage(4 << 10);
}

/// Who comes says where to, and who it is.
void enter(Request request, WebSocket socket) {
    var place = request.path("room");
    var name = Objects.requireNonNullElse(request.query("name"), "somebody");
    var room = rooms.computeIfAbsent(place, missing -> new Room(WhenSlow.DROP, 64 << 10));
    room.add(socket);
    room.broadcast(name + " came; there are " + room.size());
    socket.onText(text -> room.broadcast(name + ": " + text));
    socket.onClose(
            (code, reason) -> {
                room.broadcast(name + " left; there are " + room.size());
                if (room.size() == 0) {
                    rooms.remove(place, room);
                }
            });
}
