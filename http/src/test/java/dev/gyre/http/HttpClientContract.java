package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Deferred;
import dev.gyre.LoopOverloadedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamClosedException;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The client against the server, as every backend carries them.
abstract class HttpClientContract extends HttpFixture {
    private final List<Deferred<String>> asked = new ArrayList<>();
    private final List<String> targets = new ArrayList<>();

    private URI uri(String target) {
        try {
            return uri((InetSocketAddress) server.address(), target);
        } catch (IllegalStateException _) {
            server.listen(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    ListenerConfig.DEFAULT);
            return uri((InetSocketAddress) server.address(), target);
        }
    }

    private static URI uri(InetSocketAddress address, String target) {
        return URI.create("http://127.0.0.1:" + address.getPort() + target);
    }

    private <T> Throwable failure(Promise<T> promise) {
        runUntil("settled", quiet(promise)::isSettled);
        return switch (promise.outcome()) {
            case Outcome.Resolved(T value) ->
                    throw new AssertionError("it should have failed, and came to " + value);
            case Outcome.Rejected(Throwable reason) -> reason;
        };
    }

    /// Does the same, and handles the rejection.
    private static <T> Promise<T> quiet(Promise<T> promise) {
        promise.then(_ -> null, _ -> null);
        return promise;
    }

    /// Responds to `/later/…` on demand.
    private void answerLater() {
        server.get(
                "/later/{which}",
                (q, r) -> {
                    Deferred<String> answer = loop.deferred();
                    asked.add(answer);
                    targets.add(q.pathParam("which"));
                    return answer.promise().thenCompose(r::text);
                });
    }

    // ------------------------------------------------------------------ one call

    @Test
    void get_bringsAllOfTheAnswer() {
        server.get("/a", (_, r) -> r.status(201).header("X-Test", "yes").text("grüße"));
        ClientResponse answer = outcome(HttpClient.on(loop).get(uri("/a")));
        assertThat(answer.status()).isEqualTo(201);
        assertThat(answer.reason()).isEqualTo("Created");
        assertThat(answer.headers().get("x-test")).isEqualTo("yes");
        assertThat(answer.text()).isEqualTo("grüße");
        assertThat(answer.trailers().size()).isZero();
    }

    @Test
    void request_saysWhatWasAskedFor_andWho() {
        server.get(
                "/{path...}",
                (q, r) ->
                        r.text(
                                q.target()
                                        + " "
                                        + q.headers().getAll("Host")
                                        + q.headers().getAll("user-agent")
                                        + q.headers().getAll("x-a")));
        URI uri = uri("/a%20b/ü?q=%2F&x#part");
        ClientRequest call = HttpClient.on(loop).request("GET", uri);
        call.header("X-A", "1").header("x-a", "2").header("User-Agent", "test");
        call.addHeader("x-A", "3");
        assertThat(outcome(call.send()).text())
                .isEqualTo("/a%20b/%C3%BC?q=%2F&x [" + uri.getAuthority() + "][test][2, 3]");
        assertThat(
                        outcome(HttpClient.on(loop).get(URI.create("http://" + uri.getAuthority())))
                                .text())
                .startsWith("/ ");
    }

    @Test
    void content_ofMoreThanStreamsHold_goesThereBitByBit() {
        configure(HttpConfig.DEFAULT.withMaxBody(40 << 20));
        server.post("/hash", (q, r) -> q.body().bytes().thenCompose(b -> r.text(hash(b))));
        byte[] much = new byte[20 << 20];
        fill(much);
        HttpClient client = HttpClient.on(loop);
        ClientResponse answer = outcome(client.request("POST", uri("/hash")).send(much));
        assertThat(answer.text()).isEqualTo(hash(much));
        assertThat(client.connections()).as("it can be used on").isEqualTo(1);
        assertThat(outcome(client.request("POST", uri("/hash")).send("short")).text())
                .isEqualTo(hash("short".getBytes(UTF_8)));
    }

    @Test
    void content_ofManyPieces_isPutTogether() {
        byte[] much = new byte[3 << 20];
        fill(much);
        server.get("/m", (_, r) -> r.send(much));
        assertThat(hash(outcome(HttpClient.on(loop).get(uri("/m"))).body())).isEqualTo(hash(much));
    }

    private static void fill(byte[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) ((i * 31) >> 3);
        }
    }

    private static String hash(byte[] bytes) {
        return bytes.length + " " + Arrays.hashCode(bytes);
    }

    @Test
    void length_isSaid_whereServersWantToKnow() {
        server.any("/l", (q, r) -> r.text(String.valueOf(q.headers().get("Content-Length"))));
        HttpClient client = HttpClient.on(loop);
        assertThat(outcome(client.request("PUT", uri("/l")).send()).text()).isEqualTo("0");
        assertThat(outcome(client.request("DELETE", uri("/l")).send()).text()).isEqualTo("null");
        assertThat(outcome(client.request("PATCH", uri("/l")).send("grün")).text()).isEqualTo("5");
    }

    @Test
    void answers_withoutContent_leaveTheConnectionForTheNext() {
        server.get("/a", (_, r) -> r.text("four"))
                .get("/none", (_, r) -> r.status(204).send())
                .get("/same", (_, r) -> r.status(304).send());
        HttpClient client = HttpClient.on(loop);
        ClientResponse head = outcome(client.request("HEAD", uri("/a")).send());
        assertThat(head.headers().get("Content-Length")).isEqualTo("4");
        assertThat(head.body()).isEmpty();
        assertThat(outcome(client.get(uri("/none"))).status()).isEqualTo(204);
        assertThat(outcome(client.get(uri("/same"))).status()).isEqualTo(304);
        assertThat(outcome(client.get(uri("/a"))).text()).isEqualTo("four");
        assertThat(server.connections()).as("all on one connection").isEqualTo(1);
    }

    @Test
    void chunks_arePutTogether_withTheTrailersBehindThem() {
        server.get(
                "/s",
                (_, r) -> {
                    ResponseStream stream = r.stream();
                    stream.write("one,");
                    stream.flush();
                    stream.write("two");
                    stream.trailer("X-Sum", "7");
                    return stream.end();
                });
        HttpClient client = HttpClient.on(loop);
        ClientResponse answer =
                outcome(client.request("GET", uri("/s")).header("TE", "trailers").send());
        assertThat(answer.text()).isEqualTo("one,two");
        assertThat(answer.trailers().get("x-sum")).isEqualTo("7");
        assertThat(client.connections()).isEqualTo(1);
    }

    @Test
    void onData_takesContentAsItComes_andNoneIsCollected() {
        byte[] much = new byte[300_000];
        server.get("/m", (_, r) -> r.send(much)).get("/a", (_, r) -> r.text("a"));
        HttpClient client = HttpClient.on(loop, HttpClientConfig.DEFAULT.withMaxBody(1));
        List<Integer> pieces = new ArrayList<>();
        ClientResponse answer =
                outcome(
                        client.request("GET", uri("/m"))
                                .onData(data -> pieces.add(data.readable()))
                                .send());
        assertThat(pieces.stream().mapToInt(Integer::intValue).sum()).isEqualTo(much.length);
        assertThat(answer.body()).isEmpty();
        assertThat(outcome(client.get(uri("/a"))).text()).isEqualTo("a");
    }

    @Test
    void onData_thatThrows_rejectsItsOwnCallAlone() {
        server.get("/a", (_, r) -> r.text("a"));
        HttpClient client = HttpClient.on(loop);
        Throwable failure =
                failure(
                        client.request("GET", uri("/a"))
                                .onData(
                                        _ -> {
                                            throw new IllegalStateException("no more");
                                        })
                                .send());
        assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessage("no more");
        assertThat(client.connections()).isZero();
        assertThat(outcome(client.get(uri("/a"))).text()).isEqualTo("a");
    }

    @Test
    void onData_thatClosesTheClient_isTheEnd() {
        server.get("/a", (_, r) -> r.text("a"));
        HttpClient client = HttpClient.on(loop);
        ClientRequest call = client.request("GET", uri("/a")).onData(_ -> client.close());
        assertThat(failure(call.send())).hasMessage("the client was closed");
    }

    // ------------------------------------------------------------------ connections

    @Test
    void calls_oneAfterTheOther_useOneConnection() {
        server.get("/p", (q, r) -> r.text(q.remoteAddress().toString()));
        HttpClient client = HttpClient.on(loop);
        String first = outcome(client.get(uri("/p"))).text();
        for (int i = 0; i < 5; i++) {
            assertThat(outcome(client.get(uri("/p"))).text()).isEqualTo(first);
        }
        assertThat(client.connections()).isEqualTo(1);
    }

    @Test
    void calls_aboveTheLimit_waitAndAreSentInOrder() {
        answerLater();
        HttpClient client = HttpClient.on(loop, HttpClientConfig.DEFAULT.withMaxConnections(2));
        List<Promise<ClientResponse>> answers = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            answers.add(client.get(uri("/later/" + i)));
        }
        for (int i = 0; i < 7; i++) {
            int next = i;
            runUntil("request " + i + " is there", () -> asked.size() > next);
            assertThat(server.connections()).isLessThanOrEqualTo(2);
            asked.get(i).resolve("answer " + targets.get(i));
        }
        for (int i = 0; i < 7; i++) {
            assertThat(outcome(answers.get(i)).text()).isEqualTo("answer " + i);
        }
        assertThat(targets.subList(2, 7)).containsExactly("2", "3", "4", "5", "6");
        assertThat(client.connections()).isEqualTo(2);
    }

    @Test
    void calls_aboveWhatMayWait_areRejectedAndSayTheLimit() {
        answerLater();
        HttpClient client =
                HttpClient.on(
                        loop, HttpClientConfig.DEFAULT.withMaxConnections(1).withMaxPending(1));
        Promise<ClientResponse> first = client.get(uri("/later/1"));
        Promise<ClientResponse> second = client.get(uri("/later/2"));
        assertThat(failure(client.get(uri("/later/3"))))
                .isInstanceOf(LoopOverloadedException.class)
                .hasMessageContaining("1 requests to http://127.0.0.1")
                .hasMessageContaining("withMaxPending");
        runUntil("the first is there", () -> asked.size() == 1);
        asked.get(0).resolve("one");
        assertThat(outcome(first).text()).isEqualTo("one");
        runUntil("the second is there", () -> asked.size() == 2);
        asked.get(1).resolve("two");
        assertThat(outcome(second).text()).isEqualTo("two");
        assertThat(targets).containsExactly("1", "2");
    }

    @Test
    void connection_thatEitherSideWantsToClose_isNotKept() {
        server.get("/a", (_, r) -> r.text("a"))
                .get("/last", (_, r) -> r.header("Connection", "close").text("b"));
        HttpClient client = HttpClient.on(loop);
        assertThat(outcome(client.get(uri("/last"))).text()).isEqualTo("b");
        assertThat(client.connections()).isZero();
        ClientRequest last =
                client.request("GET", uri("/a"))
                        .header("Connection", "TE")
                        .addHeader("connection", "x, Close");
        assertThat(outcome(last.send()).text()).isEqualTo("a");
        assertThat(client.connections()).isZero();
        runUntil("the server knows", () -> server.connections() == 0);
    }

    @Test
    void connection_thatTheServerClosed_isForgotten() {
        server.get("/a", (_, r) -> r.text("a"));
        HttpClient client = HttpClient.on(loop);
        outcome(client.get(uri("/a")));
        assertThat(client.connections()).isEqualTo(1);
        server.close();
        runUntil("the client knows", () -> client.connections() == 0);
    }

    @Test
    void nobodyThere_isRejectedWithWhatTheSystemSays() {
        URI gone = uri("/");
        server.close();
        runUntil("closed", () -> server.connections() == 0);
        turn();
        HttpClient client = HttpClient.on(loop);
        assertThat(failure(client.get(gone)))
                .isInstanceOf(dev.gyre.SystemCallException.class)
                .hasMessageContaining("ECONNREFUSED");
        assertThat(client.connections()).isZero();
    }

    // ------------------------------------------------------------------ ending

    @Test
    void close_rejectsWhatIsUnderWayAndWhatWaits() {
        answerLater();
        HttpClient client = HttpClient.on(loop, HttpClientConfig.DEFAULT.withMaxConnections(1));
        Promise<ClientResponse> carried = quiet(client.get(uri("/later/1")));
        Promise<ClientResponse> waiting = quiet(client.get(uri("/later/2")));
        runUntil("the first is there", () -> asked.size() == 1);
        ClientRequest unsent = client.request("GET", uri("/later/3"));
        client.close();
        client.close();
        for (Promise<ClientResponse> each : List.of(carried, waiting, quiet(unsent.send()))) {
            assertThat(failure(each))
                    .isInstanceOf(StreamClosedException.class)
                    .hasMessage("the client was closed");
        }
        assertThat(client.connections()).isZero();
        runUntil("the server knows", () -> server.connections() == 0);
        assertThatThrownBy(() -> client.get(uri("/")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the client is closed");
    }

    @Test
    void close_whileItConnects_leavesNoConnection() {
        HttpClient client = HttpClient.on(loop);
        Promise<ClientResponse> early = quiet(client.get(uri("/")));
        client.close();
        assertThat(failure(early)).hasMessage("the client was closed");
        ClientResponse other = outcome(HttpClient.on(loop).get(uri("/")));
        assertThat(other.status()).isEqualTo(404);
        runUntil("only the other's is left", () -> server.connections() == 1);
    }

    // ------------------------------------------------------------------ misuse

    @Test
    void call_isSentOnce() {
        server.get("/a", (_, r) -> r.text("a"));
        ClientRequest call = HttpClient.on(loop).request("GET", uri("/a"));
        outcome(call.send());
        assertThatThrownBy(call::send).hasMessageContaining("GET /a was sent already");
        assertThatThrownBy(() -> call.header("X", "y")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void otherThreads_areRefusedWhileTheLoopRuns() {
        HttpClient client = HttpClient.on(loop);
        List<Throwable> thrown = new ArrayList<>();
        loop.submit(
                () -> {
                    Thread other =
                            Thread.ofPlatform()
                                    .start(
                                            () -> {
                                                try {
                                                    client.get(URI.create("http://host/"));
                                                } catch (Throwable e) {
                                                    thrown.add(e);
                                                }
                                            });
                    try {
                        other.join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        runUntil("the other thread has tried", () -> !thrown.isEmpty());
        assertThat(thrown.getFirst())
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining("HttpClient.request");
    }

    @Test
    void text_isWhatTheBytesAreInUtf8() {
        server.post("/e", (q, r) -> q.body().text().thenCompose(r::text));
        ClientResponse answer = outcome(HttpClient.on(loop).request("POST", uri("/e")).send("€"));
        assertThat(answer.body()).isEqualTo("€".getBytes(UTF_8));
    }
}
