package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;

/// What an answer's head says, and what its handler may set of it.
@On("simulated")
class AnswerFieldsTest {
    private static final int PORT = 80;

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private final HttpServer server = HttpServer.on(world.loop());

    @AfterEach
    void close() {
        world.close();
    }

    private boolean listens;

    private String ask(String method, Handler handler) {
        server.any("/" + method, handler);
        if (!listens) {
            listens = true;
            server.listen(PORT);
        }
        SimulatedPeer peer = world.connect(PORT);
        peer.send(
                method
                        + " /"
                        + method
                        + " HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        return peer.receivedText();
    }

    private static List<String> fields(String answer, String name) {
        return answer.lines()
                .filter(line -> line.startsWith(name + ": "))
                .map(line -> line.substring(name.length() + 2))
                .toList();
    }

    @Test
    @Clause("H-2")
    void dateAndServer_setByAHandler_areSentInsteadOfOurs() {
        String date = "Tue, 15 Nov 1994 08:12:31 GMT";
        String answer = ask("GET", (_, r) -> r.header("date", date).header("Server", "b").text(""));
        assertThat(answer).contains("\r\ndate: " + date + "\r\n");
        assertThat(fields(answer, "Date")).isEmpty();
        assertThat(fields(answer, "Server")).containsExactly("b");
        String half = ask("PUT", (_, r) -> r.status(201).header("Server", "b").text(""));
        assertThat(fields(half, "Date")).hasSize(1);
        assertThat(fields(half, "Server")).containsExactly("b");
    }

    @Test
    @Clause("H-2")
    void redirection_ofWhatIsNoAddress_isEncoded_andWhatIsEncodedStays() {
        for (String[] place :
                new String[][] {
                    {"GET", "/a b", "/a%20b"},
                    {"PUT", "/caf\u00e9?q=\ud83d\ude00#\u00fc", "/caf%C3%A9?q=%F0%9F%98%80#%C3%BC"},
                    {"POST", "https://a:1/%C3%A9%2f?x=1&y=[2]", "https://a:1/%C3%A9%2f?x=1&y=[2]"},
                    {"PATCH", "/100%/%4", "/100%25/%254"},
                    {"DELETE", "/\"<>\\^`{|}\t", "/%22%3C%3E%5C%5E%60%7B%7C%7D%09"},
                }) {
            assertThat(fields(ask(place[0], (_, r) -> r.redirect(302, place[1])), "Location"))
                    .containsExactly(place[2]);
        }
        assertThat(ask("QUERY", (_, r) -> r.redirect(302, "/\r\nX: y")))
                .startsWith("HTTP/1.1 500 ")
                .doesNotContain("X: y");
    }

    @Test
    @Clause("H-2")
    void serverName_thatIsNoValue_isRefused() {
        for (String name : List.of("x\r\nSet-Cookie: a=b", "a\u0000", "x".repeat(257))) {
            assertThatThrownBy(() -> HttpConfig.DEFAULT.withServerName(name))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Clause("H-2")
    void lengthThatWasSet_standsWhereNoContentIsSent() {
        assertThat(fields(ask("HEAD", (_, r) -> r.header("Content-Length", "7").send()), LENGTH))
                .containsExactly("7");
        assertThat(
                        fields(
                                ask(
                                        "GET",
                                        (_, r) ->
                                                r.status(304)
                                                        .header("Content-Length", "77")
                                                        .send()),
                                LENGTH))
                .containsExactly("77");
        assertThat(fields(ask("PUT", (_, r) -> r.header("Content-Length", "7").text("a")), LENGTH))
                .as("of content that is sent, it is what it is")
                .containsExactly("1");
    }

    private static final String LENGTH = "Content-Length";

    @Test
    @Clause("H-2")
    void lengthThatIsNone_ofAnAnswerWithoutContent_isAnsweredWith500() {
        assertThat(ask("HEAD", (_, r) -> r.header("Content-Length", "many").send()))
                .startsWith("HTTP/1.1 500 ");
    }

    @Test
    @Clause("H-2")
    void resetContent_hasNone_howeverItIsAnswered() {
        String whole = ask("GET", (_, r) -> r.status(205).text("content"));
        assertThat(whole).startsWith("HTTP/1.1 205 ").endsWith("\r\n\r\n");
        assertThat(fields(whole, LENGTH)).containsExactly("0");
        String streamed = ask("PUT", (_, r) -> write(r.status(205).stream()).end());
        assertThat(streamed).startsWith("HTTP/1.1 205 ").endsWith("\r\n\r\n");
        assertThat(fields(streamed, LENGTH)).containsExactly("0");
        assertThat(fields(streamed, "Transfer-Encoding")).isEmpty();
    }

    private static ResponseStream write(ResponseStream stream) {
        stream.write("content");
        return stream;
    }

    @Test
    @Clause("H-2")
    void noContent_ofAStream_hasNoTypeEither() {
        String answer = ask("GET", (_, r) -> write(r.status(204).stream()).end());
        assertThat(answer).startsWith("HTTP/1.1 204 ").endsWith("\r\n\r\n");
        assertThat(answer).doesNotContain("Content-Type", LENGTH, "Transfer-Encoding");
    }

    @Test
    @Clause("H-2")
    void trailers_thatBelongIntoTheHeader_areRefused() {
        String answer =
                ask(
                        "GET",
                        (_, r) -> {
                            ResponseStream stream = write(r.stream());
                            for (String name :
                                    List.of(
                                            "Transfer-Encoding",
                                            "content-length",
                                            "Host",
                                            "Trailer",
                                            "TE",
                                            "Connection",
                                            "Content-Encoding",
                                            "Content-Type",
                                            "Content-Range",
                                            "Authorization",
                                            "If-Match",
                                            "Set-Cookie")) {
                                assertThatThrownBy(() -> stream.trailer(name, "5"))
                                        .isInstanceOf(IllegalArgumentException.class)
                                        .hasMessageContaining(name);
                            }
                            return stream.trailer("Digest", "x").end();
                        });
        assertThat(answer).endsWith("\r\n0\r\nDigest: x\r\n\r\n");
    }

    @Test
    @Clause("H-2")
    void fields_ofSixteenKilobytes_areSent_andMoreIsMisuse() {
        String long1 = "x".repeat(10_000);
        String long2 = "\u00fc".repeat(3_000);
        String answer =
                ask(
                        "GET",
                        (_, r) -> {
                            r.header("A", long1).addHeader("A", long2);
                            assertThatThrownBy(() -> r.header("B", "y".repeat(400)))
                                    .isInstanceOf(IllegalArgumentException.class)
                                    .hasMessageContaining("16384");
                            return r.header("B", "\uD83D\uDE00".repeat(80)).text("all");
                        });
        assertThat(answer).startsWith("HTTP/1.1 200 ").contains(long1).endsWith("all");
    }
}
