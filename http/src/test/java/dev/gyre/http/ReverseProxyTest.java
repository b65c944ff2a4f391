package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Promise;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedListener;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/// Server and client together, as in `examples/ReverseProxy.java`: backpressure and ends pass from
/// one side to the other.
class ReverseProxyTest {
    private static final String HOP =
            "connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host";
    private static final int MUCH = 8 << 20;

    /// What the proxy and the buffers of two connections may hold together, by far.
    private static final int FEW = 1 << 20;

    private final SimulatedWorld world = SimulatedWorld.seed(9);
    private final SimulatedListener upstream = world.listen(90);

    @AfterEach
    void close() {
        world.close();
    }

    private static void serve(SimulatedWorld world) {
        HttpClientConfig config =
                HttpClientConfig.DEFAULT
                        .withTimeout(Duration.ZERO)
                        .withStallTimeout(Duration.ofSeconds(30));
        HttpClient client = HttpClient.on(world.loop(), config);
        HttpServer server = HttpServer.on(world.loop(), HttpConfig.DEFAULT.withMaxBody(1L << 40));
        URI to = URI.create("http://127.0.0.1:90");
        server.any("/{path...}", (in, out) -> pass(client, to, in, out));
        server.listen(80);
    }

    private static Promise<?> pass(
            HttpClient client, URI upstream, Request request, Response response) {
        ClientRequest call = client.request(request.method(), upstream).target(request.target());
        copy(request.headers(), HOP + "|content-length", call::addHeader);
        AtomicReference<ResponseStream> down = new AtomicReference<>();
        call.cancelOn(request.cancellation()).onHead(head -> down.set(begin(head, call, response)));
        Body body = request.body();
        Promise<ClientResponse> answer = body.length() == 0 ? call.send() : upload(body, call);
        return answer.then(_ -> down.get().end(), ReverseProxyTest::excuse);
    }

    private static void copy(Headers from, String but, BiConsumer<String, String> to) {
        from.forEach(
                (name, value) -> {
                    String known = name.toLowerCase(Locale.ROOT);
                    if (!known.matches(but) && !from.containsToken("Connection", name)) {
                        to.accept(name, value);
                    }
                });
    }

    private static Promise<ClientResponse> upload(Body body, ClientRequest call) {
        ClientRequestStream up = body.length() > 0 ? call.stream(body.length()) : call.stream();
        up.onWritable(body::resume);
        body.onData(data -> heed(up.write(data), body::pause)).onEnd(up::end);
        return up.response();
    }

    private static ResponseStream begin(
            ClientResponse head, ClientRequest call, Response response) {
        copy(head.headers(), HOP, response.status(head.status())::addHeader);
        ResponseStream down = response.stream().onWritable(call::resume);
        call.onData(data -> heed(down.write(data) || !down.isOpen(), call::pause));
        return down;
    }

    private static void heed(boolean room, Runnable pause) {
        if (!room) {
            pause.run();
        }
    }

    private static Promise<?> excuse(Throwable failure) {
        throw new HttpException(failure instanceof SocketTimeoutException ? 504 : 502, "none\n");
    }

    // ------------------------------------------------------------------

    private SimulatedPeer ask(String request) {
        serve(world);
        SimulatedPeer client = world.connect(80).send(request);
        world.run();
        return client;
    }

    private static String get(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: proxy\r\n\r\n";
    }

    private static String lines(String... lines) {
        return String.join("\r\n", lines);
    }

    private static byte[] much() {
        byte[] bytes = new byte[MUCH];
        for (int i = 0; i < MUCH; i++) {
            bytes[i] = (byte) ((i * 31) >> 3);
        }
        return bytes;
    }

    private static void assertEndsWith(SimulatedPeer peer, byte[] content) {
        byte[] all = peer.received();
        assertThat(all.length).isGreaterThan(content.length);
        byte[] end = Arrays.copyOfRange(all, all.length - content.length, all.length);
        assertThat(Arrays.equals(end, content)).as("the same bytes").isTrue();
    }

    @Test
    void head_isPassedOnBothWays_butForWhatIsBetweenTwoNeighbours() {
        SimulatedPeer client =
                ask(
                        lines(
                                "GET /a%7Cb?c=%2F HTTP/1.1",
                                "Host: proxy",
                                "Accept: x",
                                "X-Mine: 1",
                                "Connection: X-Mine",
                                "TE: trailers",
                                "Cookie: a",
                                "",
                                ""));
        SimulatedPeer behind = upstream.peers().getFirst();
        assertThat(behind.receivedText())
                .startsWith("GET /a%7Cb?c=%2F HTTP/1.1\r\nHost: 127.0.0.1:90\r\n")
                .contains("Accept: x\r\n", "Cookie: a\r\n")
                .doesNotContain("X-Mine", "TE:", "Connection:", "proxy");
        behind.send(
                lines(
                        "HTTP/1.1 404 Not Found",
                        "Content-Length: 4",
                        "Set-Cookie: a",
                        "Set-Cookie: b",
                        "Connection: keep-alive, X-Hop",
                        "X-Hop: 1",
                        "Keep-Alive: 5",
                        "",
                        "none"));
        world.run();
        assertThat(client.receivedText())
                .startsWith("HTTP/1.1 404 Not Found\r\n")
                .contains("Set-Cookie: a\r\n", "Set-Cookie: b\r\n", "Content-Length: 4\r\n")
                .doesNotContain("X-Hop", "Keep-Alive", "chunked")
                .endsWith("\r\n\r\nnone");
    }

    @Test
    void head_askedForAlone_hasTheLengthOfTheContent() {
        SimulatedPeer client = ask("HEAD / HTTP/1.1\r\nHost: proxy\r\n\r\n");
        upstream.peers().getFirst().send("HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n");
        world.run();
        assertThat(client.receivedText()).contains("Content-Length: 77\r\n").endsWith("\r\n\r\n");
    }

    @Test
    void reader_thatIsSlow_makesTheServerBehindWait() {
        SimulatedPeer client = ask(get("/")).pauseReading();
        SimulatedPeer behind = upstream.peers().getFirst();
        byte[] content = much();
        behind.send("HTTP/1.1 200 OK\r\nContent-Length: " + MUCH + "\r\n\r\n").send(content);
        world.advance(Duration.ofSeconds(20));
        assertThat(behind.unsentBytes()).as("what is held nowhere").isGreaterThan(MUCH - FEW);
        client.resumeReading();
        world.run();
        assertThat(behind.unsentBytes()).isZero();
        assertEndsWith(client, content);
    }

    @Test
    void server_behindThatIsSlow_makesTheWriterWait() {
        byte[] content = much();
        upstream.onConnect(SimulatedPeer::pauseReading);
        SimulatedPeer client =
                ask("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: " + MUCH + "\r\n\r\n");
        client.send(content);
        world.advance(Duration.ofSeconds(20));
        SimulatedPeer behind = upstream.peers().getFirst();
        assertThat(client.unsentBytes()).as("what is held nowhere").isGreaterThan(MUCH - FEW);
        behind.resumeReading();
        world.run();
        assertThat(behind.receivedText()).contains("Content-Length: " + MUCH + "\r\n");
        assertEndsWith(behind, content);
        behind.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
        world.run();
        assertThat(client.receivedText()).startsWith("HTTP/1.1 201 Created\r\n");
    }

    @Test
    void content_ofUnknownLength_comesAsThatBothWays() {
        SimulatedPeer client =
                ask("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.send("3\r\nabc\r\n0\r\n\r\n");
        world.run();
        SimulatedPeer behind = upstream.peers().getFirst();
        assertThat(behind.receivedText())
                .contains("Transfer-Encoding: chunked\r\n")
                .endsWith("\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        behind.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n");
        world.run();
        assertThat(client.receivedText()).as("before the end").endsWith("\r\n\r\n2\r\nok\r\n");
        behind.send("0\r\n\r\n");
        world.run();
        assertThat(client.receivedText()).endsWith("2\r\nok\r\n0\r\n\r\n");
        assertThat(client.isOpen()).isTrue();
    }

    @Test
    void server_behindThatIsCutOff_isNoEndOfTheAnswer() {
        SimulatedPeer client = ask(get("/"));
        SimulatedPeer behind = upstream.peers().getFirst();
        behind.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n");
        world.run();
        behind.close();
        world.run();
        assertThat(client.receivedText()).endsWith("2\r\nok\r\n");
        assertThat(client.isOpen()).isFalse();
    }

    @Test
    void server_behindThatIsGoneOrSilent_isNamedByTheStatus() {
        SimulatedPeer client = ask(get("/"));
        upstream.peers().getFirst().close();
        world.run();
        assertThat(client.receivedText()).startsWith("HTTP/1.1 502 ");
        client.send(get("/"));
        world.advance(Duration.ofSeconds(31));
        assertThat(client.takeReceived()).asString(ISO_8859_1).contains("HTTP/1.1 504 ");
        upstream.close();
        client.send(get("/"));
        world.run();
        assertThat(client.receivedText()).startsWith("HTTP/1.1 502 ");
    }

    @Test
    void client_thatIsGone_isAskedForNoLonger() {
        SimulatedPeer client = ask(get("/"));
        SimulatedPeer behind = upstream.peers().getFirst();
        client.reset();
        world.run();
        assertThat(behind.isOpen()).as("before an answer").isFalse();

        SimulatedPeer writer = world.connect(80);
        writer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
        world.run();
        SimulatedPeer reader = world.connect(80).send(get("/"));
        world.run();
        upstream.peers().get(2).send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
        world.run();
        writer.reset();
        reader.reset();
        world.run();
        assertThat(upstream.peers()).hasSize(3).noneMatch(SimulatedPeer::isOpen);
    }

    @Test
    void bytes_comeThroughHoweverTheyAreCut() {
        SimulatedWorld.eachSeed(
                50,
                each -> {
                    SimulatedListener behind = each.faults(Faults.harmless()).listen(90);
                    serve(each);
                    SimulatedPeer client =
                            each.connect(80)
                                    .send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
                                    .send("hello");
                    each.run();
                    SimulatedPeer peer = behind.peers().getFirst();
                    assertThat(peer.receivedText()).endsWith("\r\n\r\nhello");
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nback");
                    each.run();
                    assertThat(client.receivedText()).endsWith("\r\n\r\nback");
                });
    }
}
