/// Users over HTTP, as JSON. Try it: `curl -d Ada localhost:8080/users`, `curl localhost:8080/users/1`.
import static dev.gyre.os.Signal.*;

import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

record User(int id, String name) {}

/// As slow as a database, and beside the loop like one: what comes of it comes as a promise.
class Users {
    final Map<Integer, User> byId = new ConcurrentHashMap<>();
    final AtomicInteger last = new AtomicInteger();

    Promise<Optional<User>> find(EventLoop loop, int id) {
        return loop.promisify(_ -> Optional.ofNullable(byId.get(id)));
    }

    Promise<User> add(EventLoop loop, String name) {
        int next = last.incrementAndGet();
        return loop.promisify(_ -> byId.computeIfAbsent(next, id -> new User(id, name)));
    }
}

final Users users = new Users();

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop).use(this::onlyNamed);
        server.get("/users/{id}", this::find).post("/users", this::add);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> find(Request request, Response response) {
    int id = number(request.path("id"));
    var nobody = new HttpException(404, "there is no user " + id);
    return users.find(request.loop(), id)
            .then(user -> response.json(user.orElseThrow(() -> nobody)));
}

Promise<?> add(Request request, Response response) {
    Promise<String> name = request.body().text();
    return name.thenCompose(text -> users.add(name.loop(), text))
            .then(user -> response.status(201).json(user));
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
