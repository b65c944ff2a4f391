/// Users over HTTP, as JSON. Try it: `curl -d Ada localhost:8080/users`, `curl localhost:8080/users/1`.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

record User(int id, String name) {}

/// As slow as a database, and beside the loop like one: what comes of it comes as a promise.
class Users {
    final Map<Integer, User> byId = new ConcurrentHashMap<>();
    final AtomicInteger last = new AtomicInteger();

    Promise<User> find(EventLoop loop, int id) {
        return loop.promisify(_ -> get(id));
    }

    Promise<User> add(EventLoop loop, String name) {
        int next = last.incrementAndGet();
        return loop.promisify(_ -> byId.computeIfAbsent(next, id -> new User(id, name)));
    }

    User get(int id) {
        if (!byId.containsKey(id)) throw new HttpException(404, "there is no user " + id);
        return byId.get(id);
    }
}

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    var users = new Users();
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.use(this::onlyNamed);
        server.get("/users/{id}", (request, response) ->
                users.find(loop, number(request.path("id"))).then(response::json));
        server.post("/users", (request, response) ->
                request.body().text()
                        .thenCompose(name -> users.add(loop, name))
                        .then(user -> response.status(201).json(user)));
        IO.println("listening on " + server.listen(port).address());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> onlyNamed(Request request, Response response, Handler next) throws Exception {
    response.header("Cache-Control", "no-store"); // Of every answer.
    boolean named = request.header("User-Agent") != null;
    return named ? next.handle(request, response) : response.status(403).text("Who are you?\n");
}

int number(String text) {
    if (!text.matches("[0-9]{1,9}")) throw new HttpException(400, text + " is no number");
    return Integer.parseInt(text);
}
