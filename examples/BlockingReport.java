/// Blocking handlers, each on its own virtual thread. Try: `curl -T large.txt localhost:8080/count`.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    var greetings = URI.create(arguments.length > 1 ? arguments[1] : "http://localhost:9090/");
    var config = HttpConfig.DEFAULT.withMaxBody(1L << 30).withMaxBlocking(100);
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop, config);
        server.blocking("PUT", "/count", this::count);
        server.blocking("GET", "/report", this::report);
        var client = HttpClient.on(loop);
        server.blocking("GET", "/greeting", (in, out) -> greet(loop, client, greetings, out));
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}

/// Reads the body as an InputStream. Unread data stays with the client.
void count(Request request, Response response) throws IOException {
    long lines = 0;
    try (var input = new BufferedReader(new InputStreamReader(request.body().stream()))) {
        while (input.readLine() != null) {
            lines++;
        }
    }
    response.text(lines + " lines\n");
}

/// Streams the response. A slow client blocks only this thread.
void report(Request request, Response response) throws InterruptedException {
    var out = response.type("text/csv").stream();
    out.write("day,visits\n");
    for (int day = 1; day <= request.queryLong("days", 7, 1, 366) && out.isOpen(); day++) {
        Thread.sleep(1); // A slow query.
        out.write(day + "," + day * 37 % 100 + "\n");
    }
    out.end();
}

/// Calls another server. The client is confined to the loop; this thread waits for the result.
void greet(EventLoop loop, HttpClient client, URI uri, Response response) throws Exception {
    response.text(loop.call(() -> client.get(uri)).get().text());
}
