/// A server with metrics, and an admin address for its operators. Try: `curl
/// http://localhost:8080/metrics`, and open the dashboard in a browser. Press Ctrl-C to stop.
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.PrometheusText;
import dev.gyre.http.admin.AdminServer;
import dev.gyre.metrics.Watchdog;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    int adminPort = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 9090;
    try (var group = LoopGroup.ofCores()) {
        var metrics = HttpMetrics.create();
        var server = HttpServer.on(group);
        server.get("/", (request, response) -> response.text("Hello, World!\n"));
        expose(server, metrics);
        server.listen(port);
        IO.println("listening on " + server.uri());
        try (var admin = observe(group, metrics, adminPort)) {
            IO.println("dashboard on " + admin.uri());
            group.run();
        }
    }
}

/// Measures requests, and sends the metrics to Prometheus.
void expose(HttpServerGroup server, HttpMetrics metrics) {
    server.use(metrics);
    server.get("/metrics", PrometheusText.handler(server.group(), metrics));
}

/// Opens an address for operators, on this machine only.
AdminServer observe(LoopGroup group, HttpMetrics metrics, int port) {
    return AdminServer.of(group)
            .metrics(metrics)
            .watchdog(Watchdog.on(group, Duration.ofSeconds(1)))
            .listen(new InetSocketAddress("127.0.0.1", port));
}
