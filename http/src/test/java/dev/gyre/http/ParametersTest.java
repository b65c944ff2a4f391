package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.LocalDate;
import java.util.UUID;

/// Typed parameters of paths and queries, and where a request came from.
@On("simulated")
class ParametersTest extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    private String body(String target) {
        return contentOf(get(target));
    }

    private void assertBad(String target, String message) {
        assertThat(get(target)).startsWith("HTTP/1.1 400 ").endsWith("\r\n\r\n" + message + "\n");
    }

    @Test
    @Clause("H-7")
    void pathLong_isANumberWithinItsBounds() {
        server.get("/any/{id}", (q, r) -> r.text("" + q.pathLong("id")))
                .get("/small/{id}", (q, r) -> r.text("" + q.pathLong("id", 1, 9)))
                .get("/none/{id}", (q, r) -> r.text("" + q.pathLong("other")));
        assertThat(body("/any/-9223372036854775808")).isEqualTo("-9223372036854775808");
        assertThat(body("/small/9")).isEqualTo("9");
        assertBad("/any/x", "path parameter id must be a whole number of 64 bits, but is x");
        assertBad(
                "/any/9223372036854775808",
                "path parameter id must be a whole number of 64 bits, but is 9223372036854775808");
        assertBad("/small/10", "path parameter id must be a number from 1 to 9, but is 10");
        assertThat(get("/none/1")).as("a mistake of the handler's").startsWith("HTTP/1.1 500 ");
    }

    @Test
    @Clause("H-7")
    void pathParam_withAParser_hasItsType_andHidesTheParsersMessage() {
        server.get("/{id}", (q, r) -> r.text("" + q.pathParam("id", UUID::fromString).version()))
                .get(
                        "/own/{id}",
                        (q, r) ->
                                r.text(
                                        q.<String>pathParam(
                                                "id",
                                                _ -> {
                                                    throw new HttpException(404, "mine");
                                                })));
        assertThat(body("/0af4e9d0-6e2c-4c1b-9c1e-0d6a3c2b1a00")).isEqualTo("4");
        assertBad("/nonsense", "path parameter id is invalid: nonsense");
        assertBad("/a%0Ab", "path parameter id is invalid: a?b");
        assertThat(get("/" + "x".repeat(200)))
                .contains("x".repeat(80))
                .doesNotContain("x".repeat(81));
        assertThat(get("/own/x")).startsWith("HTTP/1.1 404 ").endsWith("mine\n");
    }

    @Test
    @Clause("H-7")
    void queryParams_ofOtherTypes_areCheckedAndHaveDefaults() {
        LocalDate day = LocalDate.of(2026, 11, 18);
        server.get(
                "/q",
                (q, r) ->
                        r.text(
                                q.queryBoolean("b", true)
                                        + " "
                                        + q.queryParam("day", LocalDate::parse, day)
                                        + " "
                                        + q.queryLong("n", 5, 0, 9)));
        assertThat(body("/q")).isEqualTo("true 2026-11-18 5");
        assertThat(body("/q?b=false&day=2026-01-02&n=0")).isEqualTo("false 2026-01-02 0");
        assertThat(body("/q?b")).isEqualTo("true 2026-11-18 5");
        assertBad("/q?b=1", "query parameter b must be true or false, but is 1");
        assertBad("/q?day=x", "query parameter day is invalid: x");
        assertBad("/q?n=", "query parameter n must be a number from 0 to 9, but is ");
        assertThat(get("/q?b=%ff")).startsWith("HTTP/1.1 400 ");
    }

    @Test
    @Clause("H-7")
    void parameters_thatAreMalformed_areNamedByTheMessage() {
        server.get("/q", (q, r) -> r.text("" + q.queryParam("q")))
                .get("/f/{file...}", (q, r) -> r.text(q.pathParam("file")));
        assertBad(
                "/q?a=1&q=%ff",
                "query parameter q: percent-encoding must be two hex digits after each %, and valid"
                        + " UTF-8");
        assertBad(
                "/f/a%2F..%2Fb",
                "path parameter file must not start with a slash, or contain . or .. as a name");
    }

    @Test
    @Clause("H-7")
    void hostSchemeAndClientAddress_areThoseOfTheConnection() {
        server.get(
                "/",
                (q, r) ->
                        r.text(
                                q.scheme()
                                        + " "
                                        + q.host()
                                        + " "
                                        + q.clientAddress().equals(q.remoteAddress())));
        assertThat(body("/")).isEqualTo("http a true");
        assertThat(contentOf(ask("GET http://x:81/ HTTP/1.1\r\nHost: a", "")))
                .isEqualTo("http x:81 true");
        assertThat(contentOf(ask("GET / HTTP/1.0", ""))).isEqualTo("http  true");
    }

    @Test
    @Clause("H-7")
    void listen_onAHost_bindsThatAddress() {
        try (EventLoop real = EventLoop.open();
                HttpServer bound = HttpServer.on(real).listen("127.0.0.1", 0)) {
            assertThat(((InetSocketAddress) bound.address()).getAddress())
                    .isEqualTo(InetAddress.getLoopbackAddress());
            assertThatThrownBy(() -> bound.listen("no-such-host.invalid", 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll(
                            "cannot resolve host no-such-host.invalid", "127.0.0.1");
        }
    }
}
