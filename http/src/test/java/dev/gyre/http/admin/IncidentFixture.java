package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.SocketOptions;
import dev.gyre.io.StreamConfig;
import dev.gyre.metrics.Watchdog;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/// A server on two loops with an admin address, and clients that provoke an incident. Tests read
/// what an operator can read: the admin address and the log.
@Timeout(120)
abstract class IncidentFixture {
    static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    /// Far above the duration of a callback that does not block.
    static final Duration STALL_LIMIT = Duration.ofMillis(250);

    /// Little output fits into the kernel, so that clients which do not read are noticed at once.
    static final ListenerConfig SMALL_SOCKETS =
            ListenerConfig.DEFAULT.withStreams(
                    StreamConfig.DEFAULT.withSocket(
                            SocketOptions.DEFAULT.withBuffers(16 << 10, 16 << 10)));

    static final int MAX_QUEUED_TASKS = 1_000;
    static final long BUFFER_MEMORY = 8 << 20;

    /// For requests and clients that nothing but the end of the test ends.
    private static final Duration LONG = Duration.ofMinutes(2);

    private static final long AWAIT_NANOS = Duration.ofSeconds(60).toNanos();

    final LogCapture log = new LogCapture();
    final LoopGroup group =
            LoopGroup.of(
                    2,
                    LoopGroupConfig.DEFAULT.withLoopConfig(
                            LoopConfig.DEFAULT
                                    .withName("incident")
                                    .withHighWaterMark(MAX_QUEUED_TASKS)
                                    .withBufferMemory(BUFFER_MEMORY)));
    final HttpMetrics metrics = HttpMetrics.create();
    private final Watchdog watchdog = Watchdog.on(group, STALL_LIMIT);
    private final AdminServer admin =
            AdminServer.of(group).metrics(metrics).watchdog(watchdog).listen(ANY_PORT);
    private final HttpClient operator =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<Socket> clients = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket each : clients) {
            each.close();
        }
        operator.close();
        admin.close();
        watchdog.close();
        group.close();
        log.close();
    }

    // ------------------------------------------------------------------ server and clients

    /// Returns a server that measures and does not listen yet.
    HttpServerGroup server(HttpConfig config) {
        return HttpServer.on(group, config)
                .use(metrics)
                .get("/", (request, response) -> response.text(request.loop().config().name()));
    }

    /// Starts a server.
    static SocketAddress listen(HttpServerGroup server) {
        server.listen(ANY_PORT, SMALL_SOCKETS);
        server.group().start();
        return server.address();
    }

    Socket connect(SocketAddress address) {
        Socket socket = new Socket();
        clients.add(socket);
        try {
            socket.setReceiveBufferSize(16 << 10);
            socket.setSoTimeout((int) LONG.toMillis());
            socket.connect(address);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return socket;
    }

    static void send(Socket client, String text) {
        try {
            client.getOutputStream().write(text.getBytes(ISO_8859_1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String request(String method, String path) {
        return method + " " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    /// Returns the next response, which must have a length.
    static String receive(Socket client) {
        try {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int next = client.getInputStream().read();
                assertThat(next).as("the end after: %s", head).isNotNegative();
                head.append((char) next);
            }
            int at = head.indexOf("Content-Length: ") + "Content-Length: ".length();
            int length = Integer.parseInt(head.substring(at, head.indexOf("\r\n", at)));
            return new String(client.getInputStream().readNBytes(length), ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns a client of the given loop.
    Socket connectTo(String loop, SocketAddress server) {
        while (true) {
            Socket client = connect(server);
            send(client, request("GET", "/"));
            if (receive(client).equals(loop)) {
                return client;
            }
        }
    }

    // ------------------------------------------------------------------ what the operator reads

    /// Returns the response of the admin address.
    String read(String path) {
        return read(admin, path);
    }

    String read(AdminServer from, String path) {
        int port = ((InetSocketAddress) from.address()).getPort();
        URI uri = URI.create("http://127.0.0.1:" + port + path);
        try {
            HttpResponse<String> response =
                    operator.send(
                            HttpRequest.newBuilder(uri).timeout(LONG).build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).as("%s: %s", path, response.body()).isEqualTo(200);
            return response.body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /// Returns the sum of all samples of a metric with these labels, such as `reason="closed"`.
    double metric(String name, String... labels) {
        return metricIn(read("/metrics"), name, labels);
    }

    static double metricIn(String text, String name, String... labels) {
        List<String> samples =
                text.lines()
                        .filter(line -> line.startsWith(name + '{') || line.startsWith(name + ' '))
                        .filter(line -> List.of(labels).stream().allMatch(line::contains))
                        .toList();
        assertThat(samples).as("samples of %s with %s", name, List.of(labels)).isNotEmpty();
        return samples.stream()
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /// Returns the JSON of one loop.
    String loop(String name) {
        String loops = read("/loops");
        int at = loops.indexOf("{\"name\":\"" + name + '"');
        assertThat(at).as("%s in %s", name, loops).isNotNegative();
        int next = loops.indexOf("{\"name\":", at + 1);
        return loops.substring(at, next < 0 ? loops.length() : next);
    }

    /// Returns the listed connections, each as a JSON object. The query begins with `?`.
    List<String> connections(String query) {
        String[] parts = read("/connections" + query).split("(?=\\{\"id\":)", -1);
        return List.of(parts).subList(1, parts.length);
    }

    /// Returns the first number with this name in JSON.
    static double number(String json, String name) {
        var found = Pattern.compile('"' + name + "\":([-0-9.eE]+)").matcher(json);
        assertThat(found.find()).as("%s in %s", name, json).isTrue();
        return Double.parseDouble(found.group(1));
    }

    /// Waits until an operator sees it.
    static void await(String what, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - begin).as("%s", what).isLessThan(AWAIT_NANOS);
            Thread.onSpinWait();
        }
    }
}
