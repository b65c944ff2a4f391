package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LogCapture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Headers as values, error responses with headers and bodies, redirects, downloads, and the
/// mapper for JSON.
class EverydayApiTest extends SimulatedFixture {
    @Test
    @Clause("H-7")
    void headers_fromNamesAndValues_areFoundInAnyCase() {
        Headers headers = Headers.of("Accept", "a", "X-B", "1", "accept", "c, d");
        assertThat(headers.get("ACCEPT")).isEqualTo("a");
        assertThat(headers.getAll("Accept")).containsExactly("a", "c, d");
        assertThat(headers.containsToken("accept", "D")).isTrue();
        assertThat(headers.size()).isEqualTo(3);
        assertThat(headers.toString()).isEqualTo("Accept: a\nX-B: 1\naccept: c, d\n");
        assertThat(Headers.of().size()).isZero();
    }

    @Test
    @Clause("H-7")
    void headers_withAnotherValue_areACopy() {
        Headers headers = Headers.of("A", "1", "a", "2", "B", "3");
        Headers changed = headers.with("a", "4");
        assertThat(changed.toString()).isEqualTo("B: 3\na: 4\n");
        assertThat(headers.getAll("a")).containsExactly("1", "2");
        Headers built = Headers.builder().add("A", "1").add("A", "2").set("b", "3").build();
        assertThat(built.toString()).isEqualTo("A: 1\nA: 2\nb: 3\n");
    }

    @Test
    @Clause("H-7")
    void headers_thatAreInvalid_throw() {
        assertThatThrownBy(() -> Headers.of("A")).hasMessageContaining("no value");
        for (List<String> bad :
                List.of(List.of("a b", "c"), List.of("", "c"), List.of("a", "\n"))) {
            assertThatThrownBy(() -> Headers.of(bad.get(0), bad.get(1)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Headers.of().with(bad.get(0), bad.get(1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        Headers.Builder builder = Headers.builder().add("a", "1");
        assertThatThrownBy(() -> builder.set("a", "\r")).isInstanceOf(RuntimeException.class);
        assertThat(builder.build().get("a")).isEqualTo("1");
    }

    @Test
    @Clause("H-7")
    void httpException_withHeadersAndBody_isTheResponse() {
        server.get(
                "/auth",
                (_, response) -> {
                    response.header("X-Dropped", "1");
                    throw new HttpException(401, "log in first")
                            .withHeader("WWW-Authenticate", "Basic")
                            .withHeader("www-authenticate", "Bearer");
                });
        server.get(
                "/order",
                (request, _) -> {
                    var failure =
                            new HttpException(422, "invalid", new IOException("secret"))
                                    .withBody(Map.of("field", "price"))
                                    .withHeader("X-Reason", "price");
                    return dev.gyre.Promise.rejected(
                            request.loop(), new IllegalStateException("wrapped", failure));
                });
        assertThat(get("/auth"))
                .startsWith("HTTP/1.1 401 ")
                .contains("\r\nwww-authenticate: Bearer\r\n")
                .doesNotContain("Basic")
                .doesNotContain("X-Dropped")
                .endsWith("\r\n\r\nlog in first\n");
        assertThat(get("/order"))
                .startsWith("HTTP/1.1 422 ")
                .contains("\r\nX-Reason: price\r\n")
                .contains("\r\nContent-Type: application/json\r\n")
                .endsWith("\r\n\r\n{\"field\":\"price\"}");
    }

    @Test
    @Clause("H-7")
    void httpException_withTooLongHeaders_isA500() {
        server.get(
                "/long",
                (_, _) -> {
                    throw new HttpException(400, "x").withHeader("X-Long", "y".repeat(20_000));
                });
        try (LogCapture log = new LogCapture()) {
            assertThat(get("/long")).startsWith("HTTP/1.1 500 ").doesNotContain("X-Long");
            assertThat(log.messages()).hasSize(1);
        }
    }

    @Test
    @Clause("H-7")
    void httpException_keepsEverythingThatIsNotChanged() {
        Exception cause = new IOException("why");
        HttpException failure =
                new HttpException(409, "taken", cause).withBody(7).withHeader("A", "b");
        assertThat(failure.status()).isEqualTo(409);
        assertThat(failure).hasMessage("taken").hasCause(cause);
        assertThat(failure.body()).isEqualTo(7);
        assertThat(failure.headers().get("a")).isEqualTo("b");
        assertThat(new HttpException(400, "").body()).isNull();
        for (String framing : List.of("Content-length", "Transfer-Encoding", "connection")) {
            assertThatThrownBy(() -> failure.withHeader(framing, "7"))
                    .hasMessageContaining("the server sets " + framing);
        }
    }

    @Test
    @Clause("H-7")
    void json_isWrittenByTheMapper_asBytes() {
        server.get(
                "/a", (_, response) -> response.json(Map.of("text", "ä\uD83D\uDE00\uD83D\u0001")));
        assertThat(get("/a"))
                .contains("\r\nContent-Type: application/json\r\n")
                .endsWith(
                        "\r\n\r\n"
                            + "{\"text\":\"\u00c3\u00a4\u00f0\u009f\u0098\u0080\\ud83d\\u0001\"}");
        server.jsonMapper(
                new JsonMapper() {
                    @Override
                    public byte[] write(Object value) {
                        return new byte[] {'7'};
                    }

                    @Override
                    @SuppressWarnings("TypeParameterUnusedInFormals")
                    public <T> T read(byte[] json, java.lang.reflect.Type type) {
                        throw new AssertionError();
                    }
                });
        assertThat(get("/a")).endsWith("\r\n\r\n7");
    }

    @Test
    @Clause("H-7")
    void download_hasItsName(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("x.csv"), "1,2");
        server.get(
                "/{name}",
                (request, response) -> response.sendFile(file, request.pathParam("name")));
        Map<String, String> names =
                Map.of(
                        "report%202.csv", "filename=\"report 2.csv\"",
                        "%22a%5C.csv", "filename=\"_a_.csv\"; filename*=UTF-8''%22a%5C.csv",
                        "%C3%A4%E2%82%AC%F0%9F%98%80.csv",
                                "filename=\"___.csv\";"
                                        + " filename*=UTF-8''%C3%A4%E2%82%AC%F0%9F%98%80.csv");
        names.forEach(
                (path, expected) ->
                        assertThat(get("/" + path))
                                .startsWith("HTTP/1.1 200 ")
                                .contains("\r\nContent-Type: text/csv")
                                .contains(
                                        "\r\nContent-Disposition: attachment; " + expected + "\r\n")
                                .endsWith("\r\n\r\n1,2"));
        server.get("/bad/name", (_, response) -> response.sendFile(file, "a\nb"));
        assertThat(get("/bad/name")).startsWith("HTTP/1.1 500 ");
    }
}
