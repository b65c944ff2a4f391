/// An HTTP server with an admin address, and with a handler that blocks its loop. Try:
/// `curl http://localhost:8080/slow`, then look at the log and open the admin address.
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.admin.AdminServer;
import dev.gyre.metrics.Watchdog;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    int adminPort = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 8081;
    var metrics = HttpMetrics.create();
    try (var group = LoopGroup.ofCores();
            var watchdog = Watchdog.on(group, Duration.ofMillis(200));
            var admin = AdminServer.of(group).metrics(metrics).watchdog(watchdog)) {
        admin.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), adminPort));
        var server = HttpServer.on(group).use(metrics);
        server.get("/", (request, response) -> response.text("Hello, World!\n"));
        server.get(
                "/slow",
                (request, response) -> {
                    Thread.sleep(1_000); // Wrong: it stalls all connections of this loop.
                    return response.text("done\n");
                });
        server.get(
                "/load",
                (request, response) -> {
                    var loop = request.loop().metrics();
                    return response.text(
                            "%s: busy %.0f %%, task delay p99 %s, running %s\n"
                                    .formatted(
                                            request.loop().config().name(),
                                            100 * loop.utilization(),
                                            loop.taskDelay().percentile(99),
                                            loop.running()));
                });
        server.listen(port);
        IO.println("listening on " + server.uri());
        IO.println("admin address " + admin.uri());
        group.run();
    }
}
