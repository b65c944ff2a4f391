package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.metrics.Watchdog;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

class AdminServerTest {
    private static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final LoopGroup group = LoopGroup.of(2);
    private final HttpMetrics metrics = HttpMetrics.create();
    private final CountDownLatch release = new CountDownLatch(1);
    private final CompletableFuture<EventLoop> blocked = new CompletableFuture<>();
    private final HttpServerGroup server =
            HttpServer.on(group)
                    .use(metrics)
                    .get("/hello", (_, response) -> response.text("hello"))
                    .get("/wait", (request, _) -> request.loop().deferred().promise())
                    .get(
                            "/block",
                            (request, response) -> {
                                blocked.complete(request.loop());
                                release.await();
                                return response.text("done");
                            })
                    .listen("127.0.0.1", 0);
    private final List<AutoCloseable> resources = new ArrayList<>(List.of(group));
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() throws Exception {
        release.countDown();
        client.close();
        for (AutoCloseable each : resources.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T closing(T resource) {
        resources.add(resource);
        return resource;
    }

    private AdminServer start() {
        group.start();
        return closing(AdminServer.of(group).metrics(metrics).listen(ANY_PORT));
    }

    private HttpResponse<String> send(AdminServer admin, String method, String path, String... more)
            throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(admin.uri().resolve(path))
                        .method(method, HttpRequest.BodyPublishers.noBody());
        if (more.length > 0) {
            request.headers(more);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private String get(AdminServer admin, String path) throws Exception {
        HttpResponse<String> response = send(admin, "GET", path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    /// Opens a connection to the watched server and sends a request.
    private Socket ask(String path) throws IOException {
        Socket socket = closing(new Socket());
        socket.connect(server.address());
        socket.setSoTimeout(20_000);
        String request = "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(UTF_8));
        return socket;
    }

    private Socket served(String path) throws IOException {
        Socket socket = ask(path);
        assertThat(socket.getInputStream().read()).isEqualTo('H');
        return socket;
    }

    private static String peerOf(Socket socket) {
        return "127.0.0.1:" + socket.getLocalPort();
    }

    private String awaitConnections(AdminServer admin, String query, String wanted)
            throws Exception {
        String found = get(admin, "/connections" + query);
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!found.contains(wanted) && System.nanoTime() < end) {
            found = get(admin, "/connections" + query);
        }
        return found;
    }

    // ------------------------------------------------------------------ endpoints

    @Test
    @Clause("V-7")
    void loops_haveTheirFigures() throws Exception {
        AdminServer admin = start();
        served("/hello");

        String loops = get(admin, "/loops");

        List<EventLoop> all = group.loops();
        assertThat(loops)
                .contains("\"pid\":" + ProcessHandle.current().pid())
                .contains("{\"name\":\"" + all.get(0).config().name() + "\",\"backend\":")
                .contains("{\"name\":\"" + all.get(1).config().name() + "\",\"backend\":")
                .contains("\"requests\":1")
                .contains("\"responding\":true")
                .contains("\"closed\":{}")
                .contains("\"running\":null")
                .containsPattern("\"taskDelay\":\\{\"p50\":[0-9.E-]+,\"p99\":[^,]+,\"max\":[^}]+}")
                .containsPattern("\"callbackDuration\":\\{\"timer\":\\{\"p50\":");
    }

    @Test
    @Clause("V-7")
    void connections_areThoseOfAllLoopsWithTheirActivity() throws Exception {
        AdminServer admin = start();
        Socket idle = served("/hello");
        Socket waiting = ask("/wait");

        String all = awaitConnections(admin, "", "GET /wait, handling");

        assertThat(all)
                .startsWith("{\"total\":2,\"notResponding\":[],\"states\":{\"READING\":2},")
                .contains("\"peer\":\"" + peerOf(idle) + "\"")
                .contains("\"peer\":\"" + peerOf(waiting) + "\"")
                .contains("\"activity\":\"idle\"");
        assertThat(get(admin, "/connections?activity=wait"))
                .startsWith("{\"total\":1,")
                .as("the states of all connections")
                .contains("\"states\":{\"READING\":2}")
                .contains(peerOf(waiting));
        assertThat(get(admin, "/connections?peer=" + peerOf(idle)))
                .startsWith("{\"total\":1,")
                .contains(peerOf(idle));
        for (String part : List.of("GET%20/WAIT", ":" + waiting.getLocalPort())) {
            assertThat(get(admin, "/connections?q=" + part))
                    .startsWith("{\"total\":1,")
                    .contains(peerOf(waiting));
        }
        assertThat(get(admin, "/connections?q=reading")).startsWith("{\"total\":2,");
        assertThat(get(admin, "/connections?q=none")).startsWith("{\"total\":0,");
        assertThat(get(admin, "/connections?limit=1"))
                .startsWith("{\"total\":2,")
                .doesNotContain("},{");
        assertThat(get(admin, "/connections?sort=sent&limit=1")).contains(peerOf(idle));
        assertThat(get(admin, "/connections?state=closing")).startsWith("{\"total\":0,");
    }

    @Test
    @Clause("V-7")
    void connection_byItsId_isFoundUntilItCloses() throws Exception {
        AdminServer admin = start();
        Socket socket = served("/hello");
        String id = get(admin, "/connections").replaceAll("(?s).*\"id\":(\\d+).*", "$1");

        assertThat(get(admin, "/connections/" + id)).contains(peerOf(socket));

        HttpResponse<String> missing = send(admin, "GET", "/connections/999999999");
        assertThat(missing.statusCode()).isEqualTo(404);
        assertThat(missing.body()).contains("no open connection has the id 999999999");
        assertThat(send(admin, "GET", "/connections/x").statusCode()).isEqualTo(400);
    }

    @Test
    @Clause("V-7")
    void parameters_withUnknownValues_areRejectedWithTheAllowedOnes() throws Exception {
        AdminServer admin = start();
        String loop = group.loops().getFirst().config().name();
        assertRejected(admin, "/connections?sort=name", "sort", "age, idle, pending");
        assertRejected(admin, "/connections?state=gone", "state", "READING, WRITING");
        assertRejected(admin, "/connections?loop=none", "loop", loop);
        assertRejected(admin, "/connections?limit=0", "limit", "1");
    }

    private void assertRejected(AdminServer admin, String path, String... named) throws Exception {
        HttpResponse<String> response = send(admin, "GET", path);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains(named);
    }

    @Test
    @Clause("V-7")
    void stalledLoop_isNamedAndDoesNotBlockTheAdminAddress() throws Exception {
        AdminServer admin = start();
        ask("/block");
        String name = blocked.join().config().name();

        String connections = get(admin, "/connections");
        String again = get(admin, "/connections");
        String loops = get(admin, "/loops");

        assertThat(connections).contains("\"notResponding\":[\"" + name + "\"]");
        assertThat(again).contains("\"notResponding\":[\"" + name + "\"]");
        assertThat(loops).contains("\"responding\":false").contains("GET /block, handling");
        release.countDown();
        assertThat(awaitConnections(admin, "?loop=" + name, "\"notResponding\":[]"))
                .contains("\"notResponding\":[]");
    }

    @Test
    @Clause("V-3")
    void stalls_haveTheStackOfTheBlockedLoop() throws Exception {
        group.start();
        Watchdog watchdog = closing(Watchdog.on(group, Duration.ofMillis(50)));
        CompletableFuture<Object> reported = new CompletableFuture<>();
        watchdog.onStall(reported::complete);
        AdminServer admin = closing(AdminServer.of(group).watchdog(watchdog).listen(ANY_PORT));
        assertThat(get(admin, "/stalls")).isEqualTo("{\"limitSeconds\":0.05,\"stalls\":[]}");

        ask("/block");
        reported.join();

        assertThat(get(admin, "/stalls"))
                .contains("\"loop\":\"" + blocked.join().config().name() + "\"")
                .contains("\"ended\":false")
                .contains("AdminServerTest");
    }

    @Test
    @Clause("V-3")
    void stalls_withoutAWatchdog_haveNoLimit() throws Exception {
        assertThat(get(start(), "/stalls")).isEqualTo("{\"limitSeconds\":null,\"stalls\":[]}");
    }

    @Test
    @Clause("V-5")
    void metrics_areThoseOfTheWatchedLoops() throws Exception {
        AdminServer admin = start();
        served("/hello");
        assertThat(get(admin, "/metrics"))
                .contains("http_route=\"/hello\"")
                .contains(
                        "gyre_loop_utilization{loop=\"" + group.loops().getFirst().config().name())
                .doesNotContain("gyre-admin");
    }

    @Test
    @Clause("V-5")
    void health_ofAGroupThatShutsDown_isDraining() throws Exception {
        AdminServer admin = start();
        assertThat(get(admin, "/health")).isEqualTo("{\"status\":\"up\"}");

        ask("/block");
        blocked.join();
        group.shutdown(Duration.ofSeconds(30));

        HttpResponse<String> draining = send(admin, "GET", "/health");
        assertThat(draining.statusCode()).isEqualTo(503);
        assertThat(draining.body()).isEqualTo("{\"status\":\"draining\"}");

        release.countDown();
        group.await();
        assertThat(send(admin, "GET", "/health").body()).isEqualTo("{\"status\":\"down\"}");
    }

    @Test
    @Clause("V-7")
    void dashboard_isOnePageThatLoadsNothingElse() throws Exception {
        HttpResponse<String> page = send(start(), "GET", "/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                .startsWith("default-src 'none'")
                .contains("frame-ancestors 'none'");
        assertThat(page.body()).startsWith("<!").doesNotContain("src=\"http");
    }

    // ------------------------------------------------------------------ trace

    private String change(AdminServer admin, String method, String form, int status)
            throws Exception {
        HttpResponse<String> response =
                client.send(
                        HttpRequest.newBuilder(admin.uri().resolve("/trace"))
                                .method(method, HttpRequest.BodyPublishers.ofString(form))
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .header("X-Gyre-Admin", "1")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    @Test
    @Clause("V-6")
    void trace_ofARoute_hasItsRequestsAndNoOthers() throws Exception {
        AdminServer admin = start();
        assertThat(change(admin, "POST", "route=/hello", 200)).isEqualTo("{\"on\":true}");

        served("/hello?token=secret");
        served("/missing");

        String text = awaitTrace(admin, "/trace?format=text", "response 200");
        assertThat(text)
                .contains("PROTOCOL request GET /hello, route /hello\n")
                .containsPattern("PROTOCOL response 200, 5 bytes, after \\d+ µs\n")
                .doesNotContain("missing")
                .doesNotContain("secret");
        String id = text.replaceAll("(?s).* #(\\d+) PROTOCOL.*", "$1");
        assertThat(get(admin, "/trace?format=json&connection=" + id))
                .startsWith("{\"on\":true,\"filter\":\"route /hello\",\"total\":")
                .contains("\"connection\":" + id + ",\"kind\":\"PROTOCOL\",\"detail\":\"request");
        assertThat(get(admin, "/trace?format=json&connection=999999999"))
                .endsWith(",\"total\":0,\"events\":[]}");
        assertThat(get(admin, "/trace?limit=1").lines()).hasSize(1);
        assertThat(get(admin, "/trace?format=json&limit=1")).doesNotContain("},{");

        assertThat(change(admin, "DELETE", "", 200)).isEqualTo("{\"on\":false}");
        long requests = requestsIn(get(admin, "/trace?format=text"));
        served("/hello");
        assertThat(requestsIn(get(admin, "/trace?format=text"))).isEqualTo(requests).isPositive();
        assertThat(get(admin, "/trace?format=json"))
                .startsWith("{\"on\":false,\"filter\":null,\"total\":");
    }

    private static long requestsIn(String trace) {
        return trace.lines().filter(line -> line.contains("PROTOCOL request")).count();
    }

    @Test
    @Clause("V-6")
    void trace_ofAPeer_hasItsRejectedRequests() throws Exception {
        AdminServer admin = start();
        change(admin, "POST", "peer=127.0.0.1", 200);
        try (Socket socket = new Socket()) {
            socket.connect(server.address());
            socket.getOutputStream().write("no request\r\n\r\n".getBytes(UTF_8));
            assertThat(awaitTrace(admin, "/trace", "rejected"))
                    .contains("OPENED")
                    .containsPattern("PROTOCOL rejected with 400: \\w+");
        }
    }

    private String awaitTrace(AdminServer admin, String path, String wanted) throws Exception {
        String found = get(admin, path);
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (!found.contains(wanted) && System.nanoTime() < end) {
            found = get(admin, path);
        }
        return found;
    }

    @Test
    @Clause("V-6")
    void trace_withAnInvalidForm_saysWhatIsAllowed() throws Exception {
        AdminServer admin = start();
        assertThat(change(admin, "POST", "", 400)).contains("connection, peer, route, all");
        assertThat(change(admin, "POST", "all=1&route=/", 400)).contains("has route, all");
        assertThat(change(admin, "POST", "peer=a.example", 400)).contains("IP address");
        assertThat(change(admin, "POST", "connection=x", 400)).contains("number");
        assertThat(send(admin, "GET", "/trace?format=xml").statusCode()).isEqualTo(400);
        assertThat(group.trace().isOn()).isFalse();
    }

    // ------------------------------------------------------------------ access

    @Test
    @Clause("V-7")
    void listen_onAnAddressThatOthersCanReach_needsAllowRemote() {
        SocketAddress all = new InetSocketAddress("0.0.0.0", 0);
        assertThatThrownBy(() -> AdminServer.of(group).listen(all))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("allowRemote()");
        AdminServer remote = closing(AdminServer.of(group).allowRemote().listen(all));
        assertThat(((InetSocketAddress) remote.address()).getPort()).isPositive();
        assertThatThrownBy(remote::allowRemote).isInstanceOf(IllegalStateException.class);
    }

    /// Sends one request byte by byte, and returns the response up to its end.
    private static String raw(SocketChannel channel, String request) throws IOException {
        try (channel) {
            channel.write(ByteBuffer.wrap(request.getBytes(UTF_8)));
            StringBuilder text = new StringBuilder();
            ByteBuffer bytes = ByteBuffer.allocate(4_096);
            while (channel.read(bytes) >= 0) {
                text.append(UTF_8.decode(bytes.flip()));
                bytes.clear();
            }
            return text.toString();
        }
    }

    private static String withHost(AdminServer admin, String host) throws IOException {
        return raw(
                SocketChannel.open(admin.address()),
                "GET /health HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    }

    @Test
    @Clause("V-7")
    void host_ofAnotherSite_isMisdirected() throws Exception {
        AdminServer admin = start();
        for (String host : List.of("localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:9090")) {
            assertThat(withHost(admin, host)).as(host).startsWith("HTTP/1.1 200 ");
        }
        for (String host :
                List.of("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "")) {
            assertThat(withHost(admin, host)).as(host).startsWith("HTTP/1.1 421 ");
        }
    }

    @Test
    @Clause("V-7")
    void request_ofAnotherSite_isForbiddenUnlessItOpensTheDashboard() throws Exception {
        AdminServer admin = start();
        String site = "Sec-Fetch-Site";
        String mode = "Sec-Fetch-Mode";
        for (String other : List.of("cross-site", "same-site")) {
            assertThat(send(admin, "GET", "/loops", site, other, mode, "no-cors").statusCode())
                    .isEqualTo(403);
            assertThat(send(admin, "GET", "/loops", site, other, mode, "navigate").statusCode())
                    .isEqualTo(403);
            assertThat(send(admin, "GET", "/", site, other, mode, "no-cors").statusCode())
                    .isEqualTo(403);
            assertThat(send(admin, "GET", "/", site, other, mode, "navigate").statusCode())
                    .isEqualTo(200);
        }
        for (String own : List.of("same-origin", "none")) {
            HttpResponse<String> response = send(admin, "GET", "/loops", site, own);
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Cross-Origin-Resource-Policy"))
                    .hasValue("same-origin");
        }
    }

    @Test
    @Clause("V-7")
    void change_withoutTheHeader_isForbidden() throws Exception {
        AdminServer admin = start();
        assertThat(send(admin, "DELETE", "/trace").statusCode()).isEqualTo(403);
        assertThat(send(admin, "POST", "/trace").statusCode()).isEqualTo(403);
    }

    @Test
    @Clause("V-7")
    void unixSocket_isServed(@TempDir Path directory) throws Exception {
        group.start();
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("admin"));
        AdminServer admin = closing(AdminServer.of(group).listen(address));
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(address);
        assertThat(raw(channel, "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
        assertThatThrownBy(admin::uri).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("V-7")
    void close_endsItsThreadAndNotTheLoops() throws Exception {
        AdminServer admin = start();
        URI uri = admin.uri();
        admin.close();
        admin.close();
        assertThatThrownBy(
                        () ->
                                client.send(
                                        HttpRequest.newBuilder(uri).build(),
                                        HttpResponse.BodyHandlers.ofString()))
                .isInstanceOf(IOException.class);
        served("/hello");
    }
}
