package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.LogCapture;

import org.junit.jupiter.api.Test;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;

class JsonBodyTest extends SimulatedFixture {
    /// Reads what is quoted.
    private static final class QuoteMapper implements JsonMapper {
        @Override
        public byte[] write(Object value) {
            return ("'" + value + "'").getBytes(UTF_8);
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        public <T> T read(byte[] json, Type type) {
            String text = new String(json, UTF_8);
            return switch (text) {
                case "null" -> null;
                case "{" -> throw new JsonException("", "malformed at line 1, column 2", null);
                case "7" ->
                        throw new JsonException(
                                "items[2].price", "expected a string", new Exception("secret"));
                default -> (T) (type.getTypeName() + " " + text);
            };
        }
    }

    private void echo() {
        server.jsonMapper(new QuoteMapper());
        server.post(
                "/", (request, response) -> request.body().json(String.class).then(response::json));
    }

    @Test
    @Clause("H-7")
    void json_isReadByTheMapper() {
        echo();
        for (String type :
                List.of(
                        "application/json",
                        "application/problem+json",
                        "application/JSON; charset=utf-8")) {
            assertThat(post("/", type, "[]"))
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith("\r\n\r\n'java.lang.String []'");
        }
    }

    private void requireFailure(String type, String body, int status, String message) {
        String response = post("/", type, body);
        assertThat(response).startsWith("HTTP/1.1 " + status + " ");
        assertThat(contentOf(response)).isEqualTo(message + "\n");
    }

    @Test
    @Clause("H-7")
    void json_thatIsBad_is400_andTheMessageNamesTheField() {
        echo();
        String type = "application/json";
        requireFailure(type, "{", 400, "JSON body: malformed at line 1, column 2");
        requireFailure(type, "7", 400, "field items[2].price: expected a string");
        requireFailure(type, "", 400, "JSON body: expected a value, but the body is empty");
        requireFailure(type, "null", 400, "JSON body: expected a value, not null");
    }

    @Test
    @Clause("H-7")
    void json_withATypeThatAnyPageCanSend_is415() {
        echo();
        String expected =
                "header Content-Type: expected application/json or a type that ends in +json, ";
        for (String type :
                List.of(
                        "text/plain",
                        "text/plain; x",
                        "application/json; x",
                        "application/octet-stream",
                        "application/x-www-form-urlencoded",
                        "Multipart/Form-Data")) {
            requireFailure(type, "[]", 415, expected + "not " + type);
        }
        assertThat(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1", "1"))
                .startsWith("HTTP/1.1 415 ")
                .endsWith("\r\n\r\n" + expected + "but the header is missing\n");
    }

    @Test
    @Clause("H-7")
    void json_inAnotherCharset_is415() {
        echo();
        String type = "application/json; charset=iso-8859-1";
        String message = "header Content-Type: expected application/json in UTF-8, not " + type;
        requireFailure(type, "[]", 415, message);
    }

    @Test
    @Clause("H-7")
    void json_withoutAMapperThatReads_is500_andTheExceptionNamesTheRemedy() {
        List<Throwable> failures = new ArrayList<>();
        server.post(
                "/",
                (request, response) ->
                        request.body()
                                .json(String.class)
                                .recover(
                                        UnsupportedOperationException.class,
                                        e -> {
                                            failures.add(e);
                                            throw e;
                                        })
                                .then(response::json));
        try (LogCapture log = new LogCapture()) {
            assertThat(post("/", "application/json", "1"))
                    .startsWith("HTTP/1.1 500 ")
                    .endsWith("\r\n\r\ninternal error\n");
            assertThat(log.messages()).hasSize(1);
        }
        assertThat(failures.getFirst())
                .hasMessageContaining("pass JacksonMapper.of(…) to HttpServer.jsonMapper");
    }

    @Test
    @Clause("H-7")
    void jsonException_isTheCauseOfTheResponse() {
        echo();
        List<Throwable> causes = new ArrayList<>();
        server.post(
                "/cause",
                (request, response) ->
                        request.body()
                                .json(String.class)
                                .recover(
                                        HttpException.class,
                                        e -> {
                                            causes.add(e.getCause());
                                            throw e;
                                        })
                                .then(response::text));
        assertThat(post("/cause", "application/json", "7")).startsWith("HTTP/1.1 400 ");
        assertThat(causes.getFirst())
                .isInstanceOf(JsonException.class)
                .hasMessage("items[2].price: expected a string");
    }
}
