// Notes as JSON, protected by a token, with a log, CORS and compression.
// Try: `curl -H "Authorization: Bearer secret" -d text=milk localhost:8080/notes`.
import module dev.gyre.http;

record Note(String text) {}

final List<Note> notes = new ArrayList<>();
final byte[] expected = "Bearer secret".getBytes(StandardCharsets.UTF_8);

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open();
            var log = AccessLog.common(Path.of("access.log"))) {
        var server = HttpServer.on(loop);
        server.use(log)
                .use(Cors.of("https://app.example").withHeaders("Authorization", "Content-Type"))
                .use(new Compression())
                .use(this::requireToken);
        server.get("/notes", this::list).post("/notes", this::add);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, Signal.SIGINT, Signal.SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> requireToken(Request request, Response response, Handler next) throws Exception {
    String token = Objects.requireNonNullElse(request.header("Authorization"), "");
    boolean known = MessageDigest.isEqual(token.getBytes(StandardCharsets.UTF_8), expected);
    if (known) return next.handle(request, response);
    throw new HttpException(401, "wrong token").withHeader("WWW-Authenticate", "Bearer");
}

Promise<?> list(Request request, Response response) {
    String word = request.queryParam("word"); // null if absent
    long max = request.queryLong("max", 100, 1, 1000);
    var found = notes.stream().filter(note -> word == null || note.text().contains(word));
    return response.json(found.limit(max).toList());
}

Promise<?> add(Request request, Response response) {
    return request.body()
            .form()
            .then(
                    form -> {
                        var note = new Note(form.require("text"));
                        notes.add(note);
                        return response.status(201).json(note);
                    });
}
