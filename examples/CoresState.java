/// State of a server on several loops: per loop, and shared.
/// Try: `curl http://localhost:8080/visits/ada`. Press Ctrl-C to stop.
import module dev.gyre.http;

/// Shared: all loops count here, so it is thread-safe.
final LongAdder total = new LongAdder();

/// Shared: its members may belong to any loop.
final WebSocketGroup chat = new WebSocketGroup();

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var group = LoopGroup.of(2, config())) {
        // Per loop: its own map, without a lock.
        PerLoop<Map<String, Integer>> visits = group.perLoop(loop -> new HashMap<>());
        var server = HttpServer.on(group);
        server.get("/visits/{name}", (request, response) -> visit(request, response, visits));
        server.webSocket("/chat", this::join);
        server.health("/health", loop -> loop.promisify(_ -> isDatabaseUp()));
        server.listen(new InetSocketAddress("localhost", port), limits());
        IO.println("listening on " + server.uri());
        GroupReport report = server.await();
        IO.println("visits: " + total.sum() + ", graceful: " + report.isGraceful());
    }
}

/// A loop that fails ends the group. By default another loop replaces it.
LoopGroupConfig config() {
    return LoopGroupConfig.DEFAULT
            .withLoopConfig(LoopConfig.DEFAULT.withName("web"))
            .withFailureAction(LoopGroupConfig.FailureAction.CLOSE_GROUP)
            .withShutdownTimeout(Duration.ofSeconds(10));
}

/// The limits hold for all loops together.
ListenerConfig limits() {
    return ListenerConfig.DEFAULT
            .withMaxConnections(10_000)
            .withMaxConnectionsPerPeer(100)
            .withDistribution(Distribution.LEAST_CONNECTIONS);
}

Promise<?> visit(Request request, Response response, PerLoop<Map<String, Integer>> visits) {
    var name = request.pathParam("name");
    int count = visits.get(request.loop()).merge(name, 1, Integer::sum);
    total.increment();
    return response.text(name + ": " + count + " on this loop\n");
}

void join(WebSocket socket) {
    chat.add(socket);
    socket.onText(chat::broadcast);
}

boolean isDatabaseUp() {
    return true; // A real one may block: this is a virtual thread.
}
