package dev.gyre.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The example that stands between the JDK's client and the JDK's server.
final class ProxyExamplesTest {
    /// Those that are run here.
    static final Set<String> DRIVEN = Set.of("ReverseProxy.java");

    private static final String ANNOUNCED = "listening on ";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int MUCH = 24 << 20;

    @TempDir Path directory;

    private RunningExample proxy(int port) throws IOException {
        return RunningExample.start(
                directory, "ReverseProxy.java", "0", "http://127.0.0.1:" + port);
    }

    private static int port(RunningExample example) throws IOException {
        String line = example.nextLine();
        assertThat(line).startsWith(ANNOUNCED);
        return URI.create(line.substring(ANNOUNCED.length())).getPort();
    }

    private static <T> HttpResponse<T> ask(
            HttpRequest.Builder request, HttpResponse.BodyHandler<T> as) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    request.timeout(PATIENCE).version(HttpClient.Version.HTTP_1_1).build(), as);
        }
    }

    private static HttpRequest.Builder to(int port, String target) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + target));
    }

    private static byte[] much() {
        byte[] bytes = new byte[MUCH];
        for (int i = 0; i < MUCH; i++) {
            bytes[i] = (byte) ((i * 31) >> 3);
        }
        return bytes;
    }

    /// Sends back what it is sent, when it has all of it: the JDK's client listens only after it has spoken.
    private static void echo(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] content = exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().add("X-Method", exchange.getRequestMethod());
            exchange.sendResponseHeaders(201, 0);
            exchange.getResponseBody().write(content);
        }
    }

    @Test
    void reverseProxy_toAServer_passesOnWhateverThatAnswers() throws Exception {
        HttpServer behind = HttpServer.create(new InetSocketAddress(HERE, 0), 0);
        behind.createContext("/echo", ProxyExamplesTest::echo);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                var example = proxy(behind.getAddress().getPort())) {
            behind.setExecutor(threads);
            behind.start();
            int port = port(example);
            assertThat(ask(to(port, "/nowhere"), BodyHandlers.discarding()).statusCode())
                    .isEqualTo(404);
            byte[] much = much();
            HttpResponse<byte[]> back =
                    ask(
                            to(port, "/echo?a=b").PUT(BodyPublishers.ofByteArray(much)),
                            BodyHandlers.ofByteArray());
            assertThat(back.statusCode()).isEqualTo(201);
            assertThat(back.headers().firstValue("X-Method")).contains("PUT");
            assertThat(Arrays.equals(back.body(), much)).as("the same bytes").isTrue();
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        } finally {
            behind.stop(0);
        }
    }

    @Test
    void reverseProxy_replacesForwardingHeadersThatTheClientForged() throws Exception {
        try (ServerSocket behind = new ServerSocket(0, 1, HERE);
                var example = proxy(behind.getLocalPort());
                Socket client = new Socket(HERE, port(example))) {
            send(
                    client,
                    """
                    GET / HTTP/1.1
                    Host: a
                    X-Forwarded-For: 6.6.6.6
                    X-Forwarded-Proto: https
                    X-Forwarded-Host: evil
                    X-Forwarded-Port: 99
                    Forwarded: for=6.6.6.6

                    """
                            .replace("\n", "\r\n"));
            try (Socket server = behind.accept()) {
                assertThat(readHead(server))
                        .doesNotContain("6.6.6.6", "https", "evil", "-Port", "\r\nForwarded")
                        .contains("X-Forwarded-For: 127.0.0.1\r\n")
                        .contains("X-Forwarded-Proto: http\r\n")
                        .contains("X-Forwarded-Host: a\r\n");
            }
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    @Test
    void reverseProxy_whoseServerIsCutOff_cutsOff_andWithoutOneSaysSo() throws Exception {
        ServerSocket behind = new ServerSocket(0, 1, HERE);
        try (behind;
                var example = proxy(behind.getLocalPort());
                Socket client = new Socket(HERE, port(example))) {
            send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            try (Socket server = behind.accept()) {
                readHead(server);
                send(server, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
                client.setSoTimeout((int) PATIENCE.toMillis());
                assertThat(readHead(client)).contains("Content-Length: 9\r\n");
            }
            assertThatExceptionOfType(IOException.class)
                    .as("after three bytes of nine")
                    .isThrownBy(() -> requireNine(client.getInputStream()));
            behind.close();
            try (Socket another = new Socket(HERE, client.getPort())) {
                send(another, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
                assertThat(readHead(another)).startsWith("HTTP/1.1 502 ");
            }
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    private static void requireNine(InputStream input) throws IOException {
        if (input.readNBytes(9).length < 9) {
            throw new IOException("it ended before");
        }
    }

    @Test
    void reverseProxy_whoseClientIsGone_letsTheServerGo() throws Exception {
        try (ServerSocket behind = new ServerSocket(0, 1, HERE);
                var example = proxy(behind.getLocalPort());
                Socket client = new Socket(HERE, port(example))) {
            send(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            try (Socket server = behind.accept()) {
                server.setSoTimeout((int) PATIENCE.toMillis());
                readHead(server);
                reset(client);
                assertThatExceptionOfType(SocketException.class)
                        .as("a reset")
                        .isThrownBy(() -> server.getInputStream().read());
            }
            example.interrupt();
            assertThat(example.ends()).isEmpty();
        }
    }

    private static void reset(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static String readHead(Socket socket) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int next = socket.getInputStream().read();
            assertThat(next).as("an end after %s", head).isNotNegative();
            head.append((char) next);
        }
        return head.toString();
    }
}
