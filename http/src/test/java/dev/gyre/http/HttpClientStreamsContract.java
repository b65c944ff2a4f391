package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/// Streamed bodies in both directions, on every backend.
abstract class HttpClientStreamsContract extends HttpFixture {
    static final int PIECE = 32 << 10;

    /// More than all buffers of a connection take, those of the kernel included.
    protected int pieces() {
        return (24 << 20) / PIECE;
    }

    private final List<String> told = new ArrayList<>();
    private boolean secure;
    private @Nullable HttpClient made;

    private HttpClient client() {
        HttpClient known = made;
        if (known == null) {
            Tls anyone = Tls.client().withoutVerification();
            known =
                    HttpClient.on(
                            loop,
                            HttpClientConfig.DEFAULT.withStreams(
                                    secure
                                            ? StreamConfig.DEFAULT.withTls(anyone)
                                            : StreamConfig.DEFAULT));
            made = known;
            ListenerConfig listen = ListenerConfig.DEFAULT;
            server.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    secure ? listen.withTls(Tls.selfSigned("localhost")) : listen);
        }
        return known;
    }

    private ClientRequest request(String method, String target) {
        HttpClient client = client();
        int port = ((InetSocketAddress) server.address()).getPort();
        String scheme = secure ? "https://localhost:" : "http://127.0.0.1:";
        return client.request(method, URI.create(scheme + port + target));
    }

    private Throwable failure(Promise<ClientResponse> promise) {
        promise.then(_ -> null, _ -> null);
        runUntil("settled", promise::isSettled);
        return switch (promise.outcome()) {
            case Outcome.Resolved(ClientResponse value) ->
                    throw new AssertionError("it should have failed, and came to " + value);
            case Outcome.Rejected(Throwable reason) -> reason;
        };
    }

    private static byte[] piece(int number) {
        byte[] bytes = new byte[PIECE];
        for (int i = 0; i < PIECE; i++) {
            bytes[i] = (byte) ((i * 31 + number * 7) >> 3);
        }
        return bytes;
    }

    private static long sumOf(int pieces) {
        CRC32 sum = new CRC32();
        for (int i = 0; i < pieces; i++) {
            sum.update(piece(i));
        }
        return sum.getValue();
    }

    /// Writes all it has as long as there is room.
    private final class Source {
        private int written;

        void write(ResponseStream out) {
            boolean room = true;
            while (room && written < pieces()) {
                room = out.write(piece(written++));
            }
            if (room) {
                out.end();
            }
        }

        void write(ClientRequestStream out) {
            boolean room = true;
            while (room && written < pieces()) {
                room = out.write(piece(written++));
            }
            if (room) {
                out.end();
            }
        }
    }

    /// Turns the loop until nothing more is written.
    private void runUntilStuck(Source source) {
        int before = -1;
        for (int quiet = 0; quiet < 20; quiet++) {
            if (source.written != before) {
                quiet = 0;
                before = source.written;
            }
            turn();
        }
    }

    // ------------------------------------------------------------------ heads

    @Test
    void onHead_isToldOfStatusAndFields_beforeAnyContent() {
        server.get("/a", (_, r) -> r.status(404).header("X-A", "b").text("nothing"));
        ClientRequest call = request("GET", "/a");
        call.onHead(
                head ->
                        told.add(
                                head.status()
                                        + " "
                                        + head.reason()
                                        + " "
                                        + head.headers().get("x-a")
                                        + head.text()));
        call.onData(data -> told.add(data.getText(UTF_8)));
        ClientResponse answer = outcome(call.send());
        assertThat(told).containsExactly("404 Not Found b", "nothing");
        assertThat(answer.status()).isEqualTo(404);
    }

    @Test
    void onHead_mayDecideToTakeContentBitByBit() {
        server.get("/{n}", (q, r) -> r.send(new byte[Integer.parseInt(q.pathParam("n"))]));
        HttpClientConfig small = HttpClientConfig.DEFAULT.withMaxBody(10);
        client();
        made = HttpClient.on(loop, small);
        ClientRequest large = request("GET", "/11");
        large.onHead(_ -> large.onData(data -> told.add("data " + data.readable())));
        assertThat(outcome(large.send()).body()).isEmpty();
        assertThat(told).containsExactly("data 11");
        ClientRequest collected =
                request("GET", "/10").onHead(head -> told.add("" + head.status()));
        assertThat(outcome(collected.send()).body()).hasSize(10);
        assertThatThrownBy(() -> collected.onData(_ -> {})).hasMessageContaining("sent already");
    }

    @Test
    void onHead_ofAnAnswerWithoutContent_isToldToo() {
        server.get("/a", (_, r) -> r.status(204).send());
        ClientRequest call = request("GET", "/a");
        call.onHead(
                head -> {
                    told.add("" + head.status());
                    call.pause(); // There is nothing to wait for.
                });
        assertThat(outcome(call.send()).status()).isEqualTo(204);
        assertThat(told).containsExactly("204");
        assertThat(outcome(request("GET", "/a").send()).status()).isEqualTo(204);
        assertThat(client().connections()).as("and it was used again").isEqualTo(1);
    }

    @Test
    void onHead_thatThrows_rejectsTheCall() {
        server.get("/a", (_, r) -> r.text("a"));
        ClientRequest call = request("GET", "/a");
        call.onHead(
                _ -> {
                    throw new IllegalStateException("not that");
                });
        assertThat(failure(call.send())).hasMessage("not that");
        assertThat(client().connections()).isZero();
    }

    // ------------------------------------------------------------------ pausing

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pause_slowsTheServerDown_andAllOfItComesAfterwards(boolean tls) {
        secure = tls;
        Source source = new Source();
        server.get(
                "/m",
                (_, r) -> {
                    ResponseStream out = r.stream();
                    out.onWritable(() -> source.write(out));
                    source.write(out);
                    return Promise.resolved(loop, "begun");
                });
        CRC32 sum = new CRC32();
        ClientRequest call = request("GET", "/m");
        call.onHead(_ -> call.pause());
        call.onData(
                data -> {
                    sum.update(data.getBytes());
                    told.add("data");
                    if (told.size() == 3) {
                        call.pause();
                    }
                });
        Promise<ClientResponse> answer = call.send();
        runUntil("begun", () -> source.written > 0);
        runUntilStuck(source);
        assertThat(source.written).as("pieces that were not held back").isLessThan(pieces());
        assertThat(told).isEmpty();
        call.resume();
        runUntil("paused again", () -> told.size() == 3);
        runUntilStuck(source);
        assertThat(told).hasSize(3);
        call.resume();
        outcome(answer);
        assertThat(sum.getValue()).isEqualTo(sumOf(pieces()));
        assertThat(client().connections()).isEqualTo(1);
    }

    @Test
    void pause_betweenChunksOfOneBuffer_holdsTheRest() {
        server.get(
                "/c",
                (_, r) -> {
                    ResponseStream out = r.stream();
                    List.of("a", "b", "c").forEach(out::write);
                    return out.end();
                });
        ClientRequest call = request("GET", "/c");
        call.onData(
                data -> {
                    told.add(data.getText(UTF_8));
                    call.pause();
                });
        Promise<ClientResponse> answer = call.send();
        for (String next : List.of("a", "b", "c")) {
            runUntil(next, () -> !told.isEmpty());
            turn();
            turn();
            assertThat(told).containsExactly(next);
            assertThat(answer.isSettled()).isFalse();
            told.clear();
            call.resume();
        }
        outcome(answer);
        call.pause();
        call.resume();
    }

    @Test
    void pause_withTheLastByte_isNoReasonToWait_andTheConnectionIsUsedAgain() {
        server.get("/a", (_, r) -> r.text("a"));
        ClientRequest call = request("GET", "/a");
        outcome(call.onData(_ -> call.pause()).send());
        assertThat(outcome(request("GET", "/a").send()).text()).isEqualTo("a");
        assertThat(client().connections()).isEqualTo(1);
    }

    @Test
    void pause_beforeTheCallIsSent_holdsItsHead() {
        server.get("/a", (_, r) -> r.text("a"));
        ClientRequest call = request("GET", "/a").onHead(_ -> told.add("head"));
        call.pause();
        Promise<ClientResponse> answer = call.send();
        outcome(request("GET", "/a").send());
        turn();
        assertThat(told).isEmpty();
        call.resume();
        assertThat(outcome(answer).text()).isEqualTo("a");
        assertThat(told).containsExactly("head");
    }

    // ------------------------------------------------------------------ uploads

    /// Responds with the sum of the received bytes, and the framing of the body.
    private void sumUp() {
        configure(HttpConfig.DEFAULT.withMaxBody(1L << 30));
        server.any(
                "/sum",
                (q, r) -> {
                    CRC32 sum = new CRC32();
                    String length = q.header("Content-Length") + q.header("Transfer-Encoding");
                    dev.gyre.Deferred<String> all = loop.deferred();
                    q.body().onData(data -> sum.update(data.getBytes()));
                    q.body().onEnd(() -> all.resolve(length + " " + sum.getValue()));
                    return all.promise().thenCompose(r::text);
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void stream_sendsAnyAmountInChunks_asFastAsItIsTaken(boolean tls) {
        secure = tls;
        sumUp();
        ClientRequestStream out = request("PUT", "/sum").stream();
        Source source = new Source();
        out.onWritable(() -> source.write(out));
        source.write(out);
        assertThat(source.written).as("there is no connection yet").isEqualTo(1);
        assertThat(outcome(out.response()).text()).isEqualTo("nullchunked " + sumOf(pieces()));
        assertThat(out.isOpen()).isFalse();
        assertThat(outcome(request("POST", "/sum").send()).status()).isEqualTo(200);
        assertThat(client().connections()).as("it can be used on").isEqualTo(1);
    }

    @Test
    void stream_ofALength_sendsThatManyBytes() {
        sumUp();
        ClientRequestStream out = request("POST", "/sum").stream(PIECE);
        out.write("");
        out.write(piece(0));
        assertThatThrownBy(() -> out.write("more"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("POST /sum")
                .hasMessageContaining("by 4 bytes");
        assertThat(outcome(out.end()).text()).isEqualTo(PIECE + "null " + sumOf(1));
        assertThat(out.end()).as("again").isSameAs(out.response());
        assertThatThrownBy(() -> out.write("more")).hasMessageContaining("was ended");
        assertThat(outcome(request("POST", "/sum").stream(0).end()).text()).isEqualTo("0null 0");
        assertThatThrownBy(() -> request("POST", "/sum").stream(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void stream_thatEndsBeforeItsLength_isRejectedWithWhatIsMissing() {
        sumUp();
        ClientRequestStream out = request("POST", "/sum").stream(5);
        out.write("ab");
        turn();
        assertThat(failure(out.end()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("POST /sum")
                .hasMessageContaining("3 bytes before the length");
        assertThat(client().connections()).isZero();
    }

    @Test
    void stream_thatIsAnsweredBeforeItsEnd_stops_andCostsTheConnection() {
        server.post("/no", (_, r) -> r.status(403).text("no"));
        ClientRequestStream out = request("POST", "/no").stream();
        out.write("a");
        ClientResponse answer = outcome(out.response());
        assertThat(answer.status()).isEqualTo(403);
        assertThat(out.isOpen()).isFalse();
        assertThat(out.write("b")).isFalse();
        assertThat(outcome(out.end())).isSameAs(answer);
        assertThat(client().connections()).isZero();
        runUntil("the server knows", () -> server.connections() == 0);
    }

    @Test
    void stream_thatIsAnsweredAsItGoes_flowsBothWays() {
        configure(HttpConfig.DEFAULT.withMaxBody(1L << 30));
        server.post(
                "/echo",
                (q, r) -> {
                    ResponseStream back = r.stream();
                    Body body = q.body();
                    back.onWritable(body::resume);
                    body.onData(
                            data -> {
                                if (!back.write(data)) {
                                    body.pause();
                                }
                            });
                    body.onEnd(back::end);
                    return Promise.resolved(loop, "begun");
                });
        CRC32 sum = new CRC32();
        ClientRequest call = request("POST", "/echo").onData(data -> sum.update(data.getBytes()));
        ClientRequestStream out = call.stream();
        Source source = new Source();
        out.onWritable(() -> source.write(out));
        source.write(out);
        outcome(out.response());
        assertThat(sum.getValue()).isEqualTo(sumOf(pieces()));
    }

    @Test
    void onWritable_thatThrows_rejectsTheCall() {
        sumUp();
        ClientRequestStream out = request("POST", "/sum").stream();
        out.onWritable(
                () -> {
                    throw new IllegalStateException("dry");
                });
        out.write("a");
        assertThat(failure(out.response())).hasMessage("dry");
        assertThat(client().connections()).isZero();
    }
}
