package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamClosedException;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/// Valid and invalid responses, cut anywhere, and lost connections.
class HttpClientAnswersTest {
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

    private final SimulatedWorld world = SimulatedWorld.seed(11);
    private final ScriptedPeer peer = new ScriptedPeer(world.loop());
    private HttpClient client = HttpClient.on(world.loop());

    @AfterEach
    void close() {
        client.close();
        world.advance(Duration.ofSeconds(60));
        world.close();
    }

    private Promise<ClientResponse> begin(String method, String content) {
        Promise<ClientResponse> promise = client.request(method, peer.uri("/")).send(content);
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        return promise;
    }

    private Outcome<ClientResponse> outcome(String method, String content) {
        Promise<ClientResponse> promise = begin(method, content);
        world.advance(Duration.ofSeconds(1));
        assertThat(promise.isSettled()).as("settled, as all of the answer was sent").isTrue();
        return promise.outcome();
    }

    /// Returns the outcome in one line.
    private String told(String method) {
        return switch (outcome(method, "")) {
            case Outcome.Resolved(ClientResponse answer) ->
                    "%d [%s] [%s] [%s]"
                            .formatted(
                                    answer.status(),
                                    answer.reason(),
                                    answer.text(),
                                    answer.trailers().get("x"));
            case Outcome.Rejected(Throwable why) ->
                    why.getClass().getSimpleName() + " " + why.getMessage();
        };
    }

    private static String bytes(String script) {
        return script.replace("\\r", "\r").replace("\\n", "\n").replace("|", "\r\n");
    }

    /// Checks that a response cut once anywhere, or everywhere, has the same outcome.
    private String toldOfAllCuts(String method, String text, boolean ends) {
        peer.reply(text, ends);
        String whole = told(method);
        for (int cut = 1; cut < text.length(); cut++) {
            peer.reply(text, ends, cut);
            assertThat(told(method)).as("cut before byte %d of %s", cut, text).isEqualTo(whole);
        }
        int[] everywhere = new int[text.length() - 1];
        Arrays.setAll(everywhere, i -> i + 1);
        peer.reply(text, ends, everywhere);
        assertThat(told(method)).as("cut everywhere: %s", text).isEqualTo(whole);
        return whole;
    }

    // ------------------------------------------------------------------ answers

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "GET  ~ HTTP/1.1 200 OK|Content-Length: 2||hi                    ~ 200 [OK] [hi]"
                        + " [null]",
                "GET  ~ HTTP/1.1 999 Odd|Content-Length: 0||                     ~ 999 [Odd] []"
                        + " [null]",
                "GET  ~ HTTP/1.1 404|Content-Length: 0||                         ~ 404 [] []"
                        + " [null]",
                "HEAD ~ HTTP/1.1 200 OK|Content-Length: 2||                      ~ 200 [OK] []"
                        + " [null]",
                "HEAD ~ HTTP/1.1 200 OK|Transfer-Encoding: chunked||             ~ 200 [OK] []"
                        + " [null]",
                "GET  ~ HTTP/1.1 204 None||                                      ~ 204 [None] []"
                        + " [null]",
                "GET  ~ HTTP/1.1 304 Same|Content-Length: 9||                    ~ 304 [Same] []"
                        + " [null]",
                "GET  ~ HTTP/1.1 200 OK|Transfer-Encoding: chunked||1;a=b|h|1|i|0|| ~ 200 [OK] [hi]"
                        + " [null]",
                "GET  ~ HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|0|X: y|| ~ 200 [OK] [hi]"
                        + " [y]",
                "GET  ~ HTTP/1.1 100 Go||HTTP/1.1 103 Hints|Link: a||HTTP/1.1 200"
                        + " OK|Content-Length: 2||hi ~ 200 [OK] [hi] [null]",
            })
    void answer_ofEverySort_isUnderstoodHoweverItIsCut(
            String method, String text, String expected) {
        assertThat(toldOfAllCuts(method, bytes(text), false)).isEqualTo(expected);
        assertThat(client.connections()).as("connections that are kept").isEqualTo(1);
        assertThat(peer.streams()).as("all on one connection").hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "HTTP/1.1 200 OK||hi                                  ~ 200 [OK] [hi] [null]",
                "HTTP/1.1 200 OK||                                    ~ 200 [OK] [] [null]",
                "HTTP/1.0 200 OK|Connection: keep-alive||hi           ~ 200 [OK] [hi] [null]",
                "HTTP/1.0 200 OK|Content-Length: 2||hi                ~ 200 [OK] [hi] [null]",
                "HTTP/1.1 200 OK|Connection: close|Content-Length: 2||hi ~ 200 [OK] [hi] [null]",
            })
    void answer_thatIsTheLastOfItsConnection_isUnderstoodAndNothingKept(
            String text, String expected) {
        assertThat(toldOfAllCuts("GET", bytes(text), true)).isEqualTo(expected);
        assertThat(client.connections()).isZero();
    }

    @Test
    void connection_ofHttp10_isKeptIfTheServerSaysSo() {
        String kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
        peer.reply(kept).reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(peer.streams()).hasSize(1);
    }

    // ------------------------------------------------------------------ bad ones

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            value = {
                "HTTP/1.1 200 OK\\nContent-Length: 0\\n\\n                      ~ BARE_LF",
                "HTTP/2.0 200 OK||                                              ~ OTHER_VERSION",
                "SSH-2.0-server|                                                ~ VERSION",
                "HTTP/1.1 99 OK||                                               ~ BAD_STATUS",
                "HTTP/1.1 200 OK|A : b||                                        ~ SPACE_AFTER_NAME",
                "HTTP/1.1 200 OK|A: b| c||                                      ~ FOLDED_HEADER",
                "HTTP/1.1 200 OK|Content-Length: 1|Content-Length: 1||h         ~ LENGTH_TWICE",
                "HTTP/1.1 200 OK|Content-Length: +1||h                          ~ BAD_LENGTH",
                "HTTP/1.1 200 OK|Content-Length: 1|Transfer-Encoding: chunked|| ~"
                        + " LENGTH_WITH_ENCODING",
                "HTTP/1.1 200 OK|Transfer-Encoding: gzip, chunked||             ~ UNKNOWN_ENCODING",
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0x1|h|0||          ~ BAD_CHUNK_SIZE",
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||1|hi|0||           ~ BAD_CHUNK_END",
                "HTTP/1.1 200 OK|Transfer-Encoding: chunked||0|Content-Length: 1|| ~"
                        + " FORBIDDEN_TRAILER",
                "HTTP/1.1 101 Switching|Upgrade: x|Connection: upgrade||        ~ switched"
                        + " protocols (101)",
            })
    void answer_thatBreaksTheProtocol_isRefusedHoweverItIsCut(String text, String expected) {
        assertThat(toldOfAllCuts("GET", bytes(text), false))
                .startsWith("ProtocolException ")
                .contains(expected);
        assertThat(client.connections()).as("nothing of it is kept").isZero();
    }

    @Test
    void answer_aboveALimit_isRefusedAndSaysWhich() {
        client =
                HttpClient.on(
                        world.loop(),
                        HttpClientConfig.DEFAULT
                                .withMaxHeaderBytes(100)
                                .withMaxHeaderCount(3)
                                .withMaxBody(5));
        String head = "HTTP/1.1 200 OK\r\n";
        peer.reply(head + "A: " + "b".repeat(200) + "\r\n\r\n")
                .reply(head + "A:b\r\nA:b\r\nA:b\r\nA:b\r\n\r\n")
                .reply(head + "Content-Length: 6\r\n\r\n")
                .reply(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n")
                .replyAndEnd(head + "\r\nabcdef")
                .reply(
                        head
                                + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: "
                                + "b".repeat(200)
                                + "\r\n\r\n")
                .reply(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
        assertThat(told("GET")).contains("HEAD_TOO_LARGE").contains("100 bytes");
        assertThat(told("GET")).contains("TOO_MANY_HEADERS").contains("withMaxHead");
        assertThat(told("GET"))
                .contains("CONTENT_TOO_LARGE")
                .contains("5 bytes: raise HttpClientConfig.withMaxBody")
                .contains("ClientRequest.onData");
        assertThat(told("GET")).contains("CONTENT_TOO_LARGE");
        assertThat(told("GET")).contains("CONTENT_TOO_LARGE");
        assertThat(told("GET")).contains("TRAILER_TOO_LARGE");
        assertThat(told("GET")).isEqualTo("200 [OK] [abcde] [null]");
    }

    @Test
    void announcements_withoutEnd_areRefused() {
        peer.reply("HTTP/1.1 100 Wait\r\n\r\n".repeat(33) + OK);
        assertThat(told("GET")).startsWith("ProtocolException").contains("more than 32");
        peer.reply("HTTP/1.1 100 Wait\r\n\r\n".repeat(32) + OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
    }

    @Test
    void surplus_behindAnAnswer_costsTheConnectionAlone() {
        peer.reply(OK + "HTTP/1.1 200 Forged\r\nContent-Length: 0\r\n\r\n").reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(client.connections()).isZero();
        assertThat(told("GET")).as("not what was forged").isEqualTo("200 [OK] [hi] [null]");
        assertThat(peer.streams()).hasSize(2);
    }

    @Test
    void bytes_thatNobodyAskedFor_costTheConnection() {
        peer.reply(OK).reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        peer.streams().getFirst().write("HTTP/1.1 200 Forged\r\nContent-Length: 0\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        assertThat(client.connections()).isZero();
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(peer.streams()).hasSize(2);
    }

    /// Sends a request while the idle connection has unread input in the kernel. The input arrives
    /// together with data on another connection, whose callback sends the request.
    private String toldOfCallBehind(Consumer<Stream> whatArrives) {
        world.latency(Duration.ofMillis(1), Duration.ZERO);
        peer.reply(OK).reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        List<Promise<ClientResponse>> calls = new ArrayList<>();
        URI uri = peer.uri("/");
        Stream.connect(world.loop(), new InetSocketAddress(uri.getHost(), uri.getPort()))
                .thenAccept(word -> word.onData(_ -> calls.add(begin("POST", "pay"))));
        world.advance(Duration.ofSeconds(1));
        peer.streams().getLast().write("now");
        whatArrives.accept(peer.streams().getFirst());
        world.advance(Duration.ofSeconds(1));
        assertThat(peer.streams()).as("the kept one, the word, and the new one").hasSize(3);
        assertThat(peer.requests()).as("each was sent once").hasSize(2);
        return calls.getFirst().outcome() instanceof Outcome.Resolved(ClientResponse answer)
                ? answer.reason() + " " + answer.text()
                : String.valueOf(calls.getFirst().outcome());
    }

    @Test
    void bytes_inTheKernelWhenACallIsMade_areNotItsAnswer() {
        String forged = "HTTP/1.1 200 Forged\r\nContent-Length: 0\r\n\r\n";
        assertThat(toldOfCallBehind(kept -> kept.write(forged))).isEqualTo("OK hi");
    }

    @Test
    void end_inTheKernelWhenACallIsMade_sendsItToAnotherConnectionWhateverItIs() {
        assertThat(toldOfCallBehind(Stream::end)).isEqualTo("OK hi");
    }

    @Test
    void reset_inTheKernelWhenACallIsMade_sendsItToAnotherConnectionWhateverItIs() {
        assertThat(toldOfCallBehind(Stream::abort)).isEqualTo("OK hi");
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP/1.1 200 OK|Content-Length: 3||hi",
        "HTTP/1.1 200 OK|Transfer-Encoding: chunked||2|hi|",
        "HTTP/1."
    })
    void answer_thatEndsTooSoon_isNoAnswer(String text) {
        peer.replyAndEnd(bytes(text));
        Outcome<ClientResponse> outcome = outcome("GET", "");
        assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
        Throwable why = ((Outcome.Rejected<ClientResponse>) outcome).reason();
        assertThat(why)
                .isInstanceOf(StreamClosedException.class)
                .hasMessageContaining("during its response");
        assertThat(((StreamClosedException) why).reason()).isEqualTo(CloseReason.ENDED);
    }

    // ------------------------------------------------------------------ kept connections

    @Test
    void idempotentCall_onAKeptConnectionThatIsClosed_isSentAgainOnce() {
        peer.reply(OK).replyAndEnd("").reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(peer.requests()).hasSize(3);
        assertThat(peer.streams()).hasSize(2);
        peer.replyAndEnd("").replyAndEnd("");
        assertThat(told("GET"))
                .startsWith("StreamClosedException")
                .contains("before its response: ENDED");
        assertThat(peer.requests()).as("once is enough").hasSize(5);
    }

    @Test
    void otherCalls_onAKeptConnectionThatIsClosed_areNotSentAgain() {
        peer.reply(OK).replyAndEnd("").reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(outcome("POST", "pay")).isInstanceOf(Outcome.Rejected.class);
        assertThat(peer.requests()).hasSize(2);
    }

    @Test
    void calls_onANewConnection_areNotSentAgain() {
        peer.replyAndEnd("").reply(OK);
        assertThat(told("GET")).startsWith("StreamClosedException");
        assertThat(peer.requests()).hasSize(1);
    }

    @Test
    void calls_whoseAnswerHasBegun_areNotSentAgain() {
        peer.reply(OK).replyAndEnd("HTTP/1.1 100 Go\r\n\r\n").reply(OK);
        assertThat(told("GET")).isEqualTo("200 [OK] [hi] [null]");
        assertThat(told("GET")).startsWith("StreamClosedException");
        assertThat(peer.requests()).hasSize(2);
    }

    @Test
    void callsThatWait_goOnWhenTheConnectionIsLost() {
        client = HttpClient.on(world.loop(), HttpClientConfig.DEFAULT.withMaxConnections(1));
        peer.replyAndEnd("").reply("nonsense\r\n\r\n").reply(OK);
        List<Promise<ClientResponse>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(begin("GET", ""));
        }
        world.advance(Duration.ofSeconds(1));
        assertThat(reason(calls.get(0))).isInstanceOf(StreamClosedException.class);
        assertThat(reason(calls.get(1))).isInstanceOf(ProtocolException.class);
        assertThat(calls.get(2).outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(peer.streams()).hasSize(3);
    }

    @Test
    void connection_thatCannotBeOpened_costsNoCallWhileAnotherIsOpen() {
        Promise<ClientResponse> first = begin("GET", "");
        world.advance(Duration.ofSeconds(1));
        peer.stopListening();
        peer.reply(OK).reply(OK);
        Promise<ClientResponse> second = begin("GET", "");
        Promise<ClientResponse> third = begin("POST", "pay");
        world.advance(Duration.ofSeconds(1));
        assertThat(second.isSettled()).as("refused, but there is one to wait for").isFalse();
        assertThat(third.isSettled()).isFalse();
        peer.streams().getFirst().write(OK);
        world.advance(Duration.ofSeconds(1));
        for (Promise<ClientResponse> call : List.of(first, second, third)) {
            assertThat(call.outcome()).isInstanceOf(Outcome.Resolved.class);
        }
        assertThat(peer.streams()).as("all on one connection").hasSize(1);
    }

    @Test
    void connections_thatCannotBeOpened_costAsManyCalls() {
        client = HttpClient.on(world.loop(), HttpClientConfig.DEFAULT.withMaxConnections(2));
        peer.stopListening();
        List<Promise<ClientResponse>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(begin("GET", ""));
        }
        world.advance(Duration.ofSeconds(1));
        for (Promise<ClientResponse> call : calls) {
            assertThat(reason(call)).hasMessageContaining("ECONNREFUSED");
        }
        assertThat(client.connections()).isZero();
    }

    // ------------------------------------------------------------------ given up

    private Promise<ClientResponse> begin(CancellationSource source) {
        Promise<ClientResponse> promise =
                client.request("POST", peer.uri("/"))
                        .cancelOn(source.cancellation())
                        .send("content");
        promise.then(_ -> null, _ -> null); // So that nobody reports it.
        return promise;
    }

    @Test
    void cancel_ofACallOnItsWay_rejectsItAndClosesItsConnection() {
        CancellationSource source = new CancellationSource();
        Promise<ClientResponse> call = begin(source);
        world.advance(Duration.ofSeconds(1));
        assertThat(client.connections()).isEqualTo(1);
        source.cancel("nobody waits");
        world.advance(Duration.ofSeconds(1));
        assertThat(reason(call))
                .isInstanceOf(CancelledException.class)
                .hasMessageContaining("nobody waits");
        assertThat(client.connections()).isZero();
        assertThat(peer.streams().getFirst().closeReason()).isEqualTo(CloseReason.RESET);
    }

    @Test
    void cancel_ofACallThatWaits_rejectsItAndItIsNeverSent() {
        client = HttpClient.on(world.loop(), HttpClientConfig.DEFAULT.withMaxConnections(1));
        Promise<ClientResponse> first = begin("GET", "");
        CancellationSource source = new CancellationSource();
        Promise<ClientResponse> second = begin(source);
        world.advance(Duration.ofSeconds(1));
        source.cancel("nobody waits");
        peer.streams().getFirst().write(OK);
        world.advance(Duration.ofSeconds(1));
        assertThat(first.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(reason(second)).isInstanceOf(CancelledException.class);
        assertThat(reason(begin(source))).as("at once").isInstanceOf(CancelledException.class);
        assertThat(peer.requests()).hasSize(1);
    }

    @Test
    void cancel_afterTheAnswer_changesNothing() {
        CancellationSource source = new CancellationSource();
        peer.reply(OK);
        Promise<ClientResponse> call = begin(source);
        world.advance(Duration.ofSeconds(1));
        source.cancel("too late");
        world.advance(Duration.ofSeconds(1));
        assertThat(call.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(client.connections()).isEqualTo(1);
    }

    private static Throwable reason(Promise<ClientResponse> promise) {
        assertThat(promise.outcome()).isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<ClientResponse>) promise.outcome()).reason();
    }

    @Test
    void answer_beforeAllOfTheRequestIsSent_isTakenAndTheConnectionDropped() {
        // Each connection receives the head of a response while it is still sending.
        peer.greet("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
        Promise<ClientResponse> promise =
                client.request("POST", peer.uri("/")).send(new byte[30 << 20]);
        world.advance(Duration.ofSeconds(1));
        assertThat(promise.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(client.connections()).isZero();
    }
}
