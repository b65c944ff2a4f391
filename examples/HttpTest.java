/// One test of a service. It runs in a simulated world, over real sockets, and under faults.
import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.http.testkit.*;
import dev.gyre.testkit.*;

HttpServer app(EventLoop loop) {
    var todos = new ArrayList<String>();
    var server = HttpServer.on(loop);
    server.get("/todos", (request, response) -> response.json(todos));
    server.post(
            "/todos",
            (request, response) ->
                    request.body()
                            .text()
                            .thenCompose(
                                    text -> {
                                        todos.add(text);
                                        return response.status(201).json(todos.size());
                                    }));
    server.webSocket("/echo", socket -> socket.onText(socket::send));
    return server;
}

void test(TestClient client) {
    client.get("/todos").expectStatus(200).expectJson("[]");
    client.post("/todos").body("buy milk").expectStatus(201).expectJson("1");
    client.get("/todos").expectStatus(200).expectJson("[ \"buy milk\" ]");

    var socket = client.webSocket("/echo");
    socket.send("hello").expectText("hello");
    socket.close();
    socket.expectClosed(1000);
}

void main() {
    try (var world = SimulatedWorld.seed(42)) {
        test(TestClient.of(world, app(world.loop()).listen(80)));
        IO.println("passed in a simulated world");
    }
    try (var loop = EventLoop.open()) {
        test(TestClient.of(app(loop).listen(0)));
        IO.println("passed over real sockets");
    }
    SimulatedWorld.eachSeed(
            100,
            world -> {
                world.faults(Faults.harmless());
                test(TestClient.of(world, app(world.loop()).listen(80)));
            });
    IO.println("passed in a hundred worlds with faults");
}
