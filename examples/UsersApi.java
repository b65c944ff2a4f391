/// Users as JSON, with promises. Try: `curl -d Ada localhost:8080/users`, then `…/users/1`.
import module dev.gyre.http;

record User(long id, String name) {}

/// A store that blocks, like a database driver. It runs off the loop, and returns promises.
class Users {
    final Map<Long, User> byId = new ConcurrentHashMap<>();
    final AtomicLong lastId = new AtomicLong();

    Promise<Optional<User>> find(EventLoop loop, long id) {
        return loop.promisify(_ -> Optional.ofNullable(byId.get(id)));
    }

    Promise<User> add(EventLoop loop, String name) {
        long nextId = lastId.incrementAndGet();
        return loop.promisify(_ -> byId.computeIfAbsent(nextId, id -> new User(id, name)));
    }
}

final Users users = new Users();

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop).use(this::requireUserAgent);
        server.get("/users/{id}", this::find).post("/users", this::add);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> find(Request request, Response response) {
    long id = request.pathLong("id");
    var notFound = new HttpException(404, "no user " + id);
    return users.find(request.loop(), id)
            .then(user -> response.json(user.orElseThrow(() -> notFound)));
}

Promise<?> add(Request request, Response response) {
    Promise<String> name = request.body().text();
    return name.thenCompose(text -> users.add(name.loop(), text))
            .then(user -> response.status(201).json(user));
}

Promise<?> requireUserAgent(Request request, Response response, Handler next) throws Exception {
    response.header("Cache-Control", "no-store"); // Also on error responses.
    boolean named = request.header("User-Agent") != null;
    return named ? next.handle(request, response) : response.status(403).text("no User-Agent\n");
}
