/// Chat rooms on WebSockets. Open http://localhost:8080/ twice, or /#tea for another room.
/// Press Ctrl-C to stop.
import module dev.gyre.http;

final String page =
        """
        <!doctype html><meta charset="utf-8"><title>Chat</title>
        <form><input autofocus autocomplete="off"></form><pre></pre>
        <script>
          const room = location.hash.slice(1) || 'lobby', name = prompt('Your name?') || 'guest';
          const url = location.origin.replace(/^http/, 'ws') + `/chat/${room}?name=`;
          const socket = new WebSocket(url + encodeURIComponent(name));
          const [form, input, pre] = ['form', 'input', 'pre'].map(s => document.querySelector(s));
          socket.onmessage = event => pre.prepend(event.data + '\\n');
          form.onsubmit = () => { socket.send(input.value); input.value = ''; return false; };
        </script>
        """;

final Map<String, WebSocketGroup> rooms = new HashMap<>();

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.get("/", (request, response) -> response.html(page));
        server.webSocket("/chat/{room}", config(), this::join);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> stop(server, loop));
        loop.run();
    }
}

WebSocketConfig config() {
    return WebSocketConfig.DEFAULT.withMaxMessage(4 << 10);
}

void join(Request request, WebSocket socket) {
    var roomName = request.pathParam("room");
    var name = Objects.requireNonNullElse(request.queryParam("name"), "guest");
    var room = rooms.computeIfAbsent(roomName, _ -> newRoom());
    room.add(socket);
    room.broadcast(name + " joined, " + room.size() + " online");
    socket.onText(text -> room.broadcast(name + ": " + text));
    socket.onClose(
            (code, reason) -> {
                room.broadcast(name + " left, " + room.size() + " online");
                if (room.size() == 0) {
                    rooms.remove(roomName, room);
                }
            });
}

/// Slow members miss messages instead of delaying the room.
WebSocketGroup newRoom() {
    return new WebSocketGroup(SlowConsumerPolicy.DROP, 64 << 10);
}

void stop(HttpServer server, EventLoop loop) {
    server.drain(Duration.ofSeconds(5)).thenAccept(_ -> loop.stop());
}
