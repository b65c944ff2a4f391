package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Routes by host.
@On("simulated")
class VirtualHostsTest extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    private static Handler say(String text) {
        return (_, response) -> response.text(text);
    }

    private String at(String host, String target) {
        return ask("GET " + target + " HTTP/1.1\r\nHost: " + host, "");
    }

    @Test
    @Clause("H-7")
    void host_isMatchedByNameThenByTheLongestWildcard_inAnyCase_withoutItsPort() {
        server.host("API.example.com", api -> api.get("/", say("api")))
                .host("*.example.com", any -> any.get("/", say("any")))
                .host("*.eu.example.com", eu -> eu.get("/", say("eu")))
                .host("[::1]", local -> local.get("/", say("local")));
        assertThat(contentOf(at("api.example.com", "/"))).isEqualTo("api");
        assertThat(contentOf(at("Api.Example.COM:8080", "/"))).isEqualTo("api");
        assertThat(contentOf(at("api.example.com.", "/"))).isEqualTo("api");
        assertThat(contentOf(at("x.example.com", "/"))).isEqualTo("any");
        assertThat(contentOf(at("a.b.example.com", "/"))).isEqualTo("any");
        assertThat(contentOf(at("x.eu.example.com", "/"))).isEqualTo("eu");
        assertThat(contentOf(at("eu.example.com", "/"))).isEqualTo("any");
        assertThat(contentOf(at("[::1]:80", "/"))).isEqualTo("local");
        assertThat(contentOf(ask("GET http://api.example.com/ HTTP/1.1\r\nHost: x", "")))
                .as("an absolute target goes before Host")
                .isEqualTo("api");
    }

    @Test
    @Clause("H-7")
    void hosts_requestedInTurn_orAddedLater_areAllFound() {
        for (int i = 0; i < 200; i++) {
            String name = "h" + i;
            server.host(name + ".example", host -> host.get("/", say(name)));
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 200; i++) {
                assertThat(contentOf(at("h" + i + ".example", "/"))).isEqualTo("h" + i);
            }
        }
        assertThat(at("late.example", "/")).startsWith("HTTP/1.1 421 ");
        server.host("late.example", host -> host.get("/", say("late")));
        assertThat(contentOf(at("late.example", "/"))).isEqualTo("late");
        assertThat(ask("GET / HTTP/1.0", "")).startsWith("HTTP/1.1 421 ");
    }

    @Test
    @Clause("H-7")
    void hostThatMatchesNone_withoutOtherRoutes_gets421() {
        server.host("a.example", a -> a.get("/", say("a"))).health("/health");
        assertThat(at("b.example", "/"))
                .startsWith("HTTP/1.1 421 ")
                .endsWith("this server does not serve host b.example\n");
        assertThat(at("a.example", "/none")).startsWith("HTTP/1.1 404 ");
        assertThat(at("10.0.0.1", "/health")).startsWith("HTTP/1.1 200 ");
        assertThat(ask("GET / HTTP/1.0", "")).startsWith("HTTP/1.1 421 ");
        server.get("/default", say("default"));
        assertThat(at("b.example", "/")).startsWith("HTTP/1.1 404 ");
    }

    @Test
    @Clause("H-7")
    void routesOfTheServer_serveAllHosts_afterTheirOwn() {
        server.get("/", say("default"))
                .get("/shared", say("shared"))
                .post("/{x}", say("posted"))
                .host("a.example", a -> a.get("/", say("a")).put("/shared", say("put")));
        assertThat(contentOf(at("a.example", "/"))).isEqualTo("a");
        assertThat(contentOf(at("b.example", "/"))).isEqualTo("default");
        assertThat(contentOf(at("a.example", "/shared"))).isEqualTo("shared");
        assertThat(contentOf(ask("PUT /shared HTTP/1.1\r\nHost: a.example", ""))).isEqualTo("put");
        assertThat(ask("DELETE /shared HTTP/1.1\r\nHost: a.example", ""))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS, POST, PUT\r\n");
        assertThat(ask("PUT /shared HTTP/1.1\r\nHost: b.example", ""))
                .contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n");
    }

    @Test
    @Clause("H-7")
    void errorHandlerAndMiddleware_ofAHost_applyToItsRequestsWithoutARoute() {
        server.host(
                        "a.example",
                        a ->
                                a.onStatus(404, (_, response) -> response.text("a's page"))
                                        .use(
                                                (request, response, next) ->
                                                        next.handle(
                                                                request,
                                                                response.header("X-Host", "a"))))
                .host("a.example", again -> again.get("/late", say("late")))
                .get("/x", say("x"));
        assertThat(at("a.example", "/none")).contains("X-Host: a").endsWith("a's page");
        assertThat(at("a.example", "/late")).contains("X-Host: a").endsWith("late");
        assertThat(at("b.example", "/none")).doesNotContain("X-Host").endsWith("at /none\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a.example:80",
                "http://a",
                "*",
                "a.*.b",
                "*a.example",
                "b\u00fccher.de"
            })
    @Clause("H-7")
    void hostName_thatIsMalformed_isRefusedWithTheRemedy(String name) {
        assertThatThrownBy(() -> server.host(name, _ -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("such as api.example.com or *.example.com")
                .hasMessageEndingWith("but is " + name);
    }
}
