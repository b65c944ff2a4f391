/// Notes as JSON, for who knows the token: `curl -H "Authorization: Bearer secret" localhost:8080/notes`.
import static dev.gyre.os.Signal.*;

import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

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
                .use(this::onlyWithToken);
        server.get("/notes", this::list).post("/notes", this::add);
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

Promise<?> onlyWithToken(Request request, Response response, Handler next) throws Exception {
    String given = Objects.requireNonNullElse(request.header("Authorization"), "");
    boolean known = MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected);
    if (known) return next.handle(request, response);
    return response.status(401).header("WWW-Authenticate", "Bearer").text("Who are you?\n");
}

Promise<?> list(Request request, Response response) {
    String word = request.query("word"); // Null without one.
    long most = request.query("most", 100, 1, 1000);
    var found = notes.stream().filter(note -> word == null || note.text().contains(word));
    return response.json(found.limit(most).toList());
}

Promise<?> add(Request request, Response response) {
    return request.body().text().then(this::parse).then(note -> keep(note, response));
}

Promise<?> keep(Note note, Response response) {
    notes.add(note);
    return response.status(201).json(note);
}

/// In place of a library, which would know all of JSON.
Note parse(String json) {
    var form = Pattern.compile("\\{\"text\":\"([^\"\\\\]*)\"}").matcher(json);
    if (!form.matches()) throw new HttpException(400, "that is no note");
    return new Note(form.group(1));
}
