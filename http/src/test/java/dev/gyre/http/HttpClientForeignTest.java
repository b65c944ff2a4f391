package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;

import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import javax.net.ssl.SSLException;

/// The client with the JDK's server, and over TLS.
@Timeout(60)
class HttpClientForeignTest {
    private static final InetSocketAddress ANY =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final EventLoop loop = EventLoop.open();

    @AfterEach
    void close() {
        loop.close();
    }

    private Outcome<ClientResponse> outcome(Promise<ClientResponse> promise) {
        promise.then(_ -> null, _ -> null).finallyRun(loop::stop);
        loop.run();
        Outcome<ClientResponse> outcome = promise.outcome();
        assertThat(outcome).as("the loop stops when it is settled").isNotNull();
        return outcome;
    }

    private ClientResponse answer(Promise<ClientResponse> promise) {
        return switch (outcome(promise)) {
            case Outcome.Resolved(ClientResponse answer) -> answer;
            case Outcome.Rejected(Throwable why) -> throw new AssertionError("rejected", why);
        };
    }

    @Test
    void serverOfTheJdk_isUnderstood_withLengthsAndChunks() throws Exception {
        HttpServer server = HttpServer.create(ANY, 0);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            server.setExecutor(threads);
            server.createContext(
                    "/echo",
                    exchange -> {
                        byte[] content = exchange.getRequestBody().readAllBytes();
                        exchange.getResponseHeaders().add("X-Method", exchange.getRequestMethod());
                        exchange.getResponseHeaders()
                                .add("X-Peer", exchange.getRemoteAddress().toString());
                        boolean chunked = "chunks".equals(exchange.getRequestURI().getQuery());
                        exchange.sendResponseHeaders(200, chunked ? 0 : content.length);
                        try (var body = exchange.getResponseBody()) {
                            body.write(content);
                        }
                    });
            server.start();
            URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/echo");
            HttpClient client = HttpClient.on(loop);
            ClientResponse first = answer(client.request("POST", uri).send("grüße"));
            assertThat(first.text()).isEqualTo("grüße");
            assertThat(first.headers().get("x-method")).isEqualTo("POST");
            ClientResponse much =
                    answer(
                            client.request("PUT", URI.create(uri + "?chunks"))
                                    .send(new byte[100_000]));
            assertThat(much.headers().get("Transfer-Encoding")).isEqualToIgnoringCase("chunked");
            assertThat(much.body()).isEqualTo(new byte[100_000]);
            assertThat(much.headers().get("x-peer"))
                    .as("the connection is used again")
                    .isEqualTo(first.headers().get("x-peer"));
            assertThat(answer(client.get(uri.resolve("/none"))).status()).isEqualTo(404);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void https_isSpokenWithThoseWhoAreTrusted_andNobodyElse() {
        dev.gyre.http.HttpServer server = dev.gyre.http.HttpServer.on(loop);
        server.get("/", (q, r) -> r.text(q.headers().get("Host") + " " + (q.tls() != null)));
        server.listen(ANY, ListenerConfig.DEFAULT.withTls(Tls.selfSigned("localhost")));
        int port = ((InetSocketAddress) server.address()).getPort();
        URI uri = URI.create("https://localhost:" + port + "/");
        Tls anyone = Tls.client().withoutVerification();
        HttpClient client =
                HttpClient.on(
                        loop,
                        HttpClientConfig.DEFAULT.withStreams(StreamConfig.DEFAULT.withTls(anyone)));
        assertThat(answer(client.get(uri)).body())
                .isEqualTo(("localhost:" + port + " true").getBytes(UTF_8));
        assertThat(answer(client.get(uri)).status()).isEqualTo(200);
        assertThat(client.connections()).isEqualTo(1);

        Outcome<ClientResponse> strict = outcome(HttpClient.on(loop).get(uri));
        assertThat(strict).isInstanceOf(Outcome.Rejected.class);
        assertThat(((Outcome.Rejected<ClientResponse>) strict).reason())
                .as("nobody vouches for that certificate")
                .isInstanceOf(SSLException.class);
    }

    @Test
    void https_ofAHostWithAnUnderscore_isSpoken() {
        dev.gyre.http.HttpServer server = dev.gyre.http.HttpServer.on(loop);
        server.get("/", (q, r) -> r.text(String.valueOf(q.headers().get("Host"))));
        server.listen(ANY, ListenerConfig.DEFAULT.withTls(Tls.selfSigned("localhost")));
        int port = ((InetSocketAddress) server.address()).getPort();
        StreamConfig streams =
                StreamConfig.DEFAULT
                        .withTls(Tls.client().withoutVerification())
                        .withResolver(_ -> List.of(InetAddress.getLoopbackAddress()));
        HttpClient client = HttpClient.on(loop, HttpClientConfig.DEFAULT.withStreams(streams));
        assertThat(answer(client.get(URI.create("https://my_host:" + port))).text())
                .isEqualTo("my_host:" + port);
    }

    @Test
    void ipv6_isAskedByItsAddress() {
        dev.gyre.http.HttpServer server = dev.gyre.http.HttpServer.on(loop);
        server.get("/", (q, r) -> r.text(String.valueOf(q.headers().get("Host"))));
        server.listen(
                new InetSocketAddress(InetAddress.ofLiteral("::1"), 0), ListenerConfig.DEFAULT);
        int port = ((InetSocketAddress) server.address()).getPort();
        ClientResponse answer =
                answer(HttpClient.on(loop).get(URI.create("http://[::1]:" + port + "/")));
        assertThat(answer.text()).isEqualTo("[::1]:" + port);
    }
}
