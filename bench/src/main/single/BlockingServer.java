import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;
import dev.gyre.io.ListenerConfig;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/// A server for `bench/blocking`, run from source so that one file measures several builds: a blocking
/// handler with ten headers and a body of 4 KB at `/blocking`, the same as a stream at `/stream`, and a
/// handler on the loop at `/loop`.
void main() {
    String body = "0123456789abcdef".repeat(256);
    byte[] piece = body.substring(0, 512).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    try (EventLoop loop = EventLoop.open()) {
        HttpServer server =
                HttpServer.on(loop)
                        .blocking(
                                "GET",
                                "/blocking",
                                (_, response) -> {
                                    for (int i = 0; i < 10; i++) {
                                        response.header("X-Header-" + i, "value");
                                    }
                                    response.text(body);
                                })
                        .blocking(
                                "GET",
                                "/stream",
                                (_, response) -> {
                                    for (int i = 0; i < 10; i++) {
                                        response.header("X-Header-" + i, "value");
                                    }
                                    var out = response.stream();
                                    for (int i = 0; i < 8; i++) {
                                        out.write(piece);
                                    }
                                    out.end();
                                })
                        .get(
                                "/loop",
                                (_, response) -> {
                                    for (int i = 0; i < 10; i++) {
                                        response.header("X-Header-" + i, "value");
                                    }
                                    return response.text(body);
                                })
                        .listen(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                                ListenerConfig.DEFAULT);
        IO.println(((InetSocketAddress) server.address()).getPort());
        loop.run();
    }
}
