import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.http.FilesConfig;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/// What the suites talk to where `gyre serve` will not do: WebSocket messages of 16 MiB, times of a few seconds, files beside
/// an echo.
///
/// Arguments: port, directory of files, seconds for a head and as many for a body.
final class Target {
    private static final int LONGEST_MESSAGE = 32 << 20;

    private Target() {}

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        Path files = Path.of(arguments[1]);
        Duration patience = Duration.ofSeconds(Long.parseLong(arguments[2]));
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withName("target"))) {
            HttpServer server =
                    HttpServer.on(
                            loop,
                            HttpConfig.DEFAULT
                                    .withHeaderTimeout(patience)
                                    .withBodyTimeout(patience, 1_000)
                                    .withIdleTimeout(patience.multipliedBy(2))
                                    .withWriteTimeout(patience));
            server.get("/", (_, response) -> response.text("hello"))
                    .get("/json", (_, response) -> response.json(Map.of("message", "hello")))
                    // As a whole, so that what is wrong with the content can still be answered.
                    .post(
                            "/echo",
                            (request, response) -> request.body().bytes().then(response::send))
                    .get("/large", (_, response) -> response.send(large()))
                    .files("/files", files, FilesConfig.DEFAULT)
                    .webSocket(
                            "/ws/echo",
                            WebSocketConfig.DEFAULT.withMaxMessage(LONGEST_MESSAGE),
                            socket -> socket.onText(socket::send).onBinary(socket::send));
            server.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                    ListenerConfig.DEFAULT.withStreams(
                            StreamConfig.DEFAULT.withOutputLimit(2L * LONGEST_MESSAGE)));
            loop.run();
        }
    }

    /// More than the kernel's buffers hold.
    private static byte[] large() {
        byte[] content = new byte[8 << 20];
        Arrays.fill(content, (byte) 'x');
        return content;
    }
}
