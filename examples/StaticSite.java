/// Serves the files of a directory: `StaticSite.java 8080 site`. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.http.*;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    var directory = Path.of(arguments.length > 1 ? arguments[1] : ".");
    var config = FilesConfig.DEFAULT.withListing(true).withCacheControl("max-age=60");
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.files("/", directory, config);
        server.get("/health", (request, response) -> response.text("fine\n"));
        IO.println("listening on " + server.listen(port).uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> loop.stop());
        loop.run();
    }
}
