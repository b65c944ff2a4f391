package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Type;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// JSON that the client sends and reads.
class HttpClientJsonTest {
    /// Reads a JSON string as text, or the type's name for other types.
    private static final class EchoMapper implements JsonMapper {
        @Override
        public byte[] write(@Nullable Object value) {
            return JsonMapper.writeOnly().write(value);
        }

        @Override
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        public <T> T read(byte[] json, Type type) {
            String text = new String(json, UTF_8);
            if (!text.startsWith("\"")) {
                throw new JsonException("items[2]", "expected a string", null);
            }
            return (T) (type == String.class ? text.replace("\"", "") : type.getTypeName());
        }
    }

    private static final URI HERE = URI.create("http://localhost:8080/");

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private final HttpServer server = HttpServer.on(world.loop());
    private final HttpClient client =
            HttpClient.on(world.loop(), HttpClientConfig.DEFAULT.withJsonMapper(new EchoMapper()));

    @AfterEach
    void close() {
        client.close();
        server.close();
        world.close();
    }

    private ClientResponse response(Promise<ClientResponse> response) {
        world.advance(Duration.ofSeconds(1));
        return ((Outcome.Resolved<ClientResponse>) response.outcome()).value();
    }

    @Test
    @Clause("H-7")
    void sendJson_ofAValue_sendsItsBytesAndContentType() {
        server.post(
                "/",
                (request, response) ->
                        request.body()
                                .text()
                                .thenCompose(
                                        text ->
                                                response.text(
                                                        request.headers().get("Content-Type")
                                                                + " "
                                                                + text)));
        server.listen(8080);
        assertThat(response(client.postJson(HERE, Map.of("id", 7))).text())
                .isEqualTo("application/json {\"id\":7}");
        ClientRequest patch = client.request("POST", HERE);
        patch.header("content-type", "application/merge-patch+json");
        assertThat(response(patch.sendJson(List.of(1, 2))).text())
                .isEqualTo("application/merge-patch+json [1,2]");
        assertThatThrownBy(() -> patch.sendJson("again")).hasMessageContaining("sent already");
    }

    @Test
    @Clause("H-7")
    void json_ofAResponse_isReadAsItsType() throws ReflectiveOperationException {
        server.get("/", (_, response) -> response.json("text"));
        server.listen(8080);
        ClientResponse response = response(client.get(HERE));
        assertThat(response.json(String.class)).isEqualTo("text");
        Type list = Headers.class.getMethod("getAll", String.class).getGenericReturnType();
        assertThat(response.<Object>json(list)).isEqualTo("java.util.List<java.lang.String>");
    }

    @Test
    @Clause("H-7")
    void json_thatDoesNotFit_namesTheFieldTheStatusAndTheContentType() {
        server.get("/", (_, response) -> response.status(502).text("<h1>Bad gateway</h1>"));
        server.listen(8080);
        ClientResponse response = response(client.get(HERE));
        assertThatThrownBy(() -> response.json(String.class))
                .isInstanceOf(JsonException.class)
                .hasMessageContaining("items[2]: expected a string (response 502, text/plain");
    }

    @Test
    @Clause("H-7")
    void json_withoutAMapper_throwsWithTheRemedy() {
        ClientResponse response =
                new ClientResponse(200, "OK", Headers.of(), new byte[0], Headers.of());
        assertThatThrownBy(() -> response.json(String.class))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("withJsonMapper");
    }
}
