package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/// The examples that speak HTTP, with the JDK's client.
final class HttpExamplesTest {
    /// Those that are run here.
    static final Set<String> DRIVEN =
            Set.of(
                    "BlockingReport.java",
                    "Chat.java",
                    "Cores.java",
                    "CoresState.java",
                    "CpuWork.java",
                    "HelloHttp.java",
                    "HttpGet.java",
                    "HttpTest.java",
                    "HttpsServer.java",
                    "NotesApi.java",
                    "Observed.java",
                    "ServerEvents.java",
                    "SimulatedHttp.java",
                    "SimulatedTls.java",
                    "StaticSite.java",
                    "UsersApi.java",
                    "Watched.java");

    private static final String DASHBOARD = "dashboard on ";
    private static final String ANNOUNCED = "listening on ";
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient client =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(PATIENCE)
                    .build();

    @TempDir Path directory;

    /// @return where it listens, as in `localhost:8080`
    private static String authority(RunningExample example) throws IOException {
        String line = example.nextLine();
        assertThat(line).startsWith(ANNOUNCED);
        URI uri = URI.create(line.substring(ANNOUNCED.length()));
        assertThat(uri.getHost()).as(line).isEqualTo("localhost");
        return uri.getAuthority();
    }

    private static HttpRequest.Builder to(String uri) {
        return HttpRequest.newBuilder(URI.create(uri)).timeout(PATIENCE);
    }

    private HttpResponse<String> ask(HttpRequest.Builder request) throws Exception {
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void observed_showsItsRequestsToPrometheusAndOperators() throws Exception {
        try (var example = RunningExample.start(directory, "Observed.java", "0", "0")) {
            String server = "http://" + authority(example);
            String line = example.nextLine();
            assertThat(line).startsWith(DASHBOARD);
            URI admin = URI.create(line.substring(DASHBOARD.length()));
            assertThat(body(URI.create(server + "/"))).isEqualTo("Hello, World!\n");
            assertThat(body(URI.create(server + "/metrics"))).contains("http_route=\"/\"");
            assertThat(body(admin)).startsWith("<!");
            assertThat(body(admin.resolve("/loops"))).contains("\"responding\":true");
        }
    }

    private String body(URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body();
    }

    @Test
    void cores_asked_respondsAndDrainsWhenInterrupted() throws Exception {
        try (var example = RunningExample.start(directory, "Cores.java", "0")) {
            String authority = authority(example);
            assertThat(ask(to("http://" + authority + "/")).body()).isEqualTo("Hello, World!\n");
            client.close(); // The drain would wait for open connections.
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void coresState_visited_countsPerLoopAndForAll() throws Exception {
        try (var example = RunningExample.start(directory, "CoresState.java", "0")) {
            String root = "http://" + authority(example);
            // The client keeps its connection, which belongs to one loop.
            assertThat(ask(to(root + "/visits/ada")).body()).isEqualTo("ada: 1 on this loop\n");
            assertThat(ask(to(root + "/visits/ada")).body()).isEqualTo("ada: 2 on this loop\n");
            assertThat(ask(to(root + "/health")).body()).isEqualTo("{\"status\":\"up\"}");
            client.close();
            example.interrupt();
            assertThat(example.ends()).containsExactly("visits: 2, graceful: true");
        }
    }

    @Test
    void cpuWork_asked_computesOverHttpAndOverItsOwnProtocol() throws Exception {
        try (var example = RunningExample.start(directory, "CpuWork.java", "0")) {
            String root = "http://" + authority(example);
            String numbers = example.nextLine();
            int port = Integer.parseInt(numbers.substring(numbers.lastIndexOf(':') + 1));
            assertThat(ask(to(root + "/primes/1000")).body()).isEqualTo("168\n");
            assertThat(ask(to(root + "/primes/1")).statusCode()).isEqualTo(400);
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream().write("100\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(socket.getInputStream().readNBytes(3))
                        .asString(StandardCharsets.US_ASCII)
                        .isEqualTo("25\n");
            }
            client.close();
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void helloHttp_asked_answersAndEndsWhenInterrupted() throws Exception {
        try (var example = RunningExample.start(directory, "HelloHttp.java", "0")) {
            String authority = authority(example);
            assertThat(ask(to("http://" + authority + "/")).body()).isEqualTo("Hello, World!\n");
            assertThat(ask(to("http://" + authority + "/nowhere")).statusCode()).isEqualTo(404);
            client.close(); // What is kept open would be waited for.
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void httpGet_ofAnExample_printsStatusAndContent_andWithoutAServerWhy() throws Exception {
        String uri;
        try (var server = RunningExample.start(directory, "HelloHttp.java", "0")) {
            uri = "http://" + authority(server) + "/";
            try (var found = RunningExample.start(directory, "HttpGet.java", uri)) {
                assertThat(found.ends()).containsExactly("200 OK", "Hello, World!");
            }
            try (var missing = RunningExample.start(directory, "HttpGet.java", uri + "nowhere")) {
                missing.says("404 Not Found");
                assertThat(missing.ends()).containsExactly("no resource at /nowhere");
            }
            server.interrupt();
            assertThat(server.ends()).isEmpty();
        }
        try (var nobody = RunningExample.start(directory, "HttpGet.java", uri)) {
            assertThat(nobody.nextLine()).startsWith("no response: ");
            assertThat(nobody.ends()).isEmpty();
        }
    }

    @Test
    void watched_askedForASlowPage_showsTheStallOnItsAdminAddress() throws Exception {
        try (var example = RunningExample.start(directory, "Watched.java", "0", "0")) {
            String root = "http://" + authority(example);
            String line = example.nextLine();
            assertThat(line).startsWith("admin address http://");
            String admin = line.substring("admin address ".length());
            assertThat(ask(to(root + "/slow")).body()).isEqualTo("done\n");

            assertThat(ask(to(admin + "stalls")).body())
                    .contains("GET /slow", "Watched.java:", "\"limitSeconds\":0.2");
            assertThat(ask(to(admin + "metrics")).body()).contains("http_route=\"/slow\"");
            assertThat(ask(to(root + "/load")).body()).matches("gyre-\\d+: busy \\d+ %, .*\n");
            client.close();
            example.interrupt();
            assertThat(example.endsWithComplaint()).isEmpty();
            assertThat(example.complaint()).contains(" (limit 200 ms) in Watched.", "ran again");
        }
    }

    @Test
    void usersApi_addedTo_findsWhatIsThereAndRefusesTheRest() throws Exception {
        try (var example = RunningExample.start(directory, "UsersApi.java", "0")) {
            String users = "http://" + authority(example) + "/users";
            HttpResponse<String> added = ask(to(users).POST(BodyPublishers.ofString("Ada")));
            assertThat(added.statusCode()).isEqualTo(201);
            assertThat(added.body()).isEqualTo("{\"id\":1,\"name\":\"Ada\"}");

            HttpResponse<String> found = ask(to(users + "/1"));
            assertThat(found.body()).isEqualTo(added.body());
            assertThat(found.headers().firstValue("Cache-Control")).contains("no-store");
            assertThat(ask(to(users + "/2")))
                    .returns(404, HttpResponse::statusCode)
                    .returns("no user 2\n", HttpResponse::body);
            assertThat(ask(to(users + "/two")).statusCode()).isEqualTo(400);
            assertThat(ask(to(users).DELETE()).statusCode()).isEqualTo(405);
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void notesApi_withItsToken_keepsWhatItIsGivenAndLogsIt() throws Exception {
        try (var example = RunningExample.start(directory, "NotesApi.java", "0")) {
            String notes = "http://" + authority(example) + "/notes";
            assertThat(ask(to(notes)).statusCode()).isEqualTo(401);
            assertThat(ask(note(notes, "text=milk")).statusCode()).isEqualTo(201);
            assertThat(ask(note(notes, "text=bread")).body()).isEqualTo("{\"text\":\"bread\"}");
            assertThat(ask(note(notes, "milk")).statusCode()).isEqualTo(400);

            assertThat(ask(known(notes)).body())
                    .isEqualTo("[{\"text\":\"milk\"},{\"text\":\"bread\"}]");
            assertThat(ask(known(notes + "?max=1")).body()).isEqualTo("[{\"text\":\"milk\"}]");
            assertThat(ask(known(notes + "?word=br")).body()).isEqualTo("[{\"text\":\"bread\"}]");
            assertThat(ask(known(notes + "?max=none")).statusCode()).isEqualTo(400);
            HttpResponse<String> preflight =
                    ask(
                            to(notes)
                                    .method("OPTIONS", BodyPublishers.noBody())
                                    .header("Origin", "https://app.example")
                                    .header("Access-Control-Request-Method", "POST"));
            assertThat(preflight.statusCode()).as("a preflight has no token").isEqualTo(204);
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
        assertThat(Files.readAllLines(directory.resolve("access.log")))
                .hasSize(9)
                .first()
                .asString()
                .contains("\"GET /notes HTTP/1.1\" 401 ");
    }

    private static HttpRequest.Builder known(String uri) {
        return to(uri).header("Authorization", "Bearer secret");
    }

    private static HttpRequest.Builder note(String uri, String form) {
        return known(uri)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(form));
    }

    @Test
    void blockingReport_asksAnotherServerFromItsThread() throws Exception {
        try (var other = RunningExample.start(directory, "HelloHttp.java", "0")) {
            String uri = "http://" + authority(other) + "/";
            try (var example = RunningExample.start(directory, "BlockingReport.java", "0", uri)) {
                assertThat(ask(to("http://" + authority(example) + "/greeting")).body())
                        .isEqualTo("Hello, World!\n");
                example.interrupt();
                assertThat(example.ends()).isEmpty();
            }
        }
    }

    @Test
    void blockingReport_readsAndWritesStreams() throws Exception {
        try (var example = RunningExample.start(directory, "BlockingReport.java", "0")) {
            String authority = authority(example);
            String lines = "one line of many\n".repeat(100_000);
            assertThat(
                            ask(to("http://" + authority + "/count")
                                            .PUT(BodyPublishers.ofString(lines)))
                                    .body())
                    .isEqualTo("100000 lines\n");
            assertThat(ask(to("http://" + authority + "/report?days=2")).body())
                    .isEqualTo("day,visits\n1,37\n2,74\n");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void chat_withTwo_letsEachHearTheOtherAndTellsWhoLeaves() throws Exception {
        try (var example = RunningExample.start(directory, "Chat.java", "0")) {
            String authority = authority(example);
            assertThat(ask(to("http://" + authority + "/")).body()).contains("/chat");
            Heard one = new Heard();
            Heard other = new Heard();
            Heard elsewhere = new Heard();
            WebSocket first = join(authority, "tea?name=Ann", one);
            assertThat(one.next()).isEqualTo("Ann joined, 1 online");
            WebSocket _ = join(authority, "coffee", elsewhere);
            assertThat(elsewhere.next()).isEqualTo("guest joined, 1 online");
            WebSocket second = join(authority, "tea?name=Zo%C3%AB", other);
            assertThat(one.next()).isEqualTo("Zoë joined, 2 online");
            assertThat(other.next()).isEqualTo("Zoë joined, 2 online");
            WebSocket _ = first.sendText("hello", true).join();
            assertThat(one.next()).isEqualTo("Ann: hello");
            assertThat(other.next()).isEqualTo("Ann: hello");
            WebSocket _ = second.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
            assertThat(one.next()).isEqualTo("Zoë left, 1 online");
            example.interrupt();
            assertThat(one.next()).isEqualTo("closed with 1001");
            assertThat(elsewhere.next()).as("and nothing before").isEqualTo("closed with 1001");
            client.close();
            assertThat(example.ends()).isEmpty();
        }
    }

    private WebSocket join(String authority, String room, Heard heard) {
        return client.newWebSocketBuilder()
                .connectTimeout(PATIENCE)
                .buildAsync(URI.create("ws://" + authority + "/chat/" + room), heard)
                .join();
    }

    /// What a WebSocket hears, message by message.
    private static final class Heard implements WebSocket.Listener {
        private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            messages.add(data.toString());
            return WebSocket.Listener.super.onText(socket, data, last);
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            messages.add("closed with " + code);
            return WebSocket.Listener.super.onClose(socket, code, reason);
        }

        String next() throws InterruptedException {
            String message = messages.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(message).as("a message within %s: see Chat.java", PATIENCE).isNotNull();
            return message;
        }
    }

    @Test
    void serverEvents_read_arriveAsTheyHappenAndEndWithTheServer() throws Exception {
        try (var example = RunningExample.start(directory, "ServerEvents.java", "0")) {
            HttpRequest request = to("http://" + authority(example) + "/time").build();
            HttpResponse<InputStream> answer = client.send(request, BodyHandlers.ofInputStream());
            assertThat(answer.headers().firstValue("Content-Type")).contains("text/event-stream");
            try (var reader =
                    new BufferedReader(
                            new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                for (int i = 0; i < 3; i++) {
                    assertThat(reader.readLine()).isEqualTo("event: time");
                    assertThat(reader.readLine()).startsWith("data: ");
                    assertThat(reader.readLine()).isEmpty();
                }
                example.interrupt();
                List<String> rest = reader.lines().toList();
                assertThat(rest.size() % 3).as("whole events before the end: %s", rest).isZero();
                assertThat(rest).allMatch(line -> line.matches("event: time|data: .*|"));
                assertThat(example.ends()).isEmpty();
            }
        }
    }

    @Test
    void staticSite_asked_servesFilesAndRoutesOfItsOwn() throws Exception {
        Path site = Files.createDirectory(directory.resolve("site"));
        Files.writeString(site.resolve("index.html"), "<p>home</p>");
        Files.writeString(site.resolve("style.css"), "p { color: red }");
        try (var example =
                RunningExample.start(directory, "StaticSite.java", "0", site.toString())) {
            String root = "http://" + authority(example);
            assertThat(ask(to(root + "/")).body()).isEqualTo("<p>home</p>");
            HttpResponse<String> style = ask(to(root + "/style.css"));
            assertThat(style.headers().firstValue("Content-Type").orElse("")).contains("text/css");
            assertThat(style.headers().firstValue("Cache-Control")).contains("max-age=60");
            assertThat(ask(to(root + "/health")).body()).isEqualTo("fine\n");
            assertThat(ask(to(root + "/none.txt")).statusCode()).isEqualTo(404);
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void httpsServer_asked_answersByTls() throws Exception {
        try (var example = RunningExample.start(directory, "HttpsServer.java", "0");
                HttpClient trusting =
                        HttpClient.newBuilder()
                                .version(HttpClient.Version.HTTP_1_1)
                                .sslContext(trustingAll())
                                .connectTimeout(PATIENCE)
                                .build()) {
            HttpRequest request = to("https://" + authority(example) + "/").build();
            assertThat(trusting.send(request, BodyHandlers.ofString()).body())
                    .isEqualTo("connected with TLSv1.3\n");
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void httpTest_run_passesEverywhere() throws Exception {
        try (var example = RunningExample.start(directory, "HttpTest.java")) {
            assertThat(example.ends())
                    .containsExactly(
                            "passed in a simulated world",
                            "passed over real sockets",
                            "passed in a hundred worlds with faults");
        }
    }

    @Test
    void simulatedTls_run_printsWhatEachClientReceived() throws Exception {
        try (var example = RunningExample.start(directory, "SimulatedTls.java")) {
            assertThat(example.ends())
                    .containsExactly(
                            "HttpClient: Hello, TLS!", "WebSocket: hello", "TestClient: passed");
        }
    }

    @Test
    void simulatedHttp_run_printsWhatItShould() throws Exception {
        try (var example = RunningExample.start(directory, "SimulatedHttp.java")) {
            assertThat(example.ends())
                    .isEqualTo(
                            List.of(
                                    "responded at once: false",
                                    "responded after a minute: true",
                                    "closed after another: true",
                                    "the same in three hundred worlds"));
        }
    }

    /// The certificate is made for the occasion: there is nobody to ask about it.
    private static SSLContext trustingAll() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TrustingAll()}, null);
        return context;
    }

    private static final class TrustingAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(
                X509Certificate[] chain, String type, java.net.Socket socket) {}

        @Override
        public void checkServerTrusted(
                X509Certificate[] chain, String type, java.net.Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
