package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Tls;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Which route answers, and what is said where none does.
class RoutesTest extends HttpFixture {
    private static final Handler NOTHING = (_, response) -> response.send();

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private static Handler say(String what) {
        return (_, response) -> response.text(what);
    }

    private String by(String method, String target) {
        return ask(method + " " + target + " HTTP/1.1\r\nHost: a", "");
    }

    // ------------------------------------------------------------------ methods

    @Test
    @Clause("H-5")
    void method_thatTheMostLiteralRouteDoesNotTake_isThatOfAWiderOne() {
        server.get("/users/me", say("me"))
                .get("/users/{id}", say("somebody"))
                .delete("/users/{id}", (q, r) -> r.text("no more " + q.pathParam("id")))
                .put("/{rest...}", (q, r) -> r.text("put " + q.pathParam("rest")));
        assertThat(get("/users/me")).endsWith("\r\n\r\nme");
        assertThat(by("DELETE", "/users/me")).endsWith("\r\n\r\nno more me");
        assertThat(by("PUT", "/users/me")).endsWith("\r\n\r\nput users/me");
        assertThat(by("HEAD", "/users/me")).contains("\r\nContent-Length: 2\r\n");
    }

    @Test
    @Clause("H-5")
    void method_thatNoRouteOfThePathTakes_isRefusedWithWhatAllOfThemDo() {
        server.get("/users/me", say("me"))
                .delete("/users/{id}", say("no more"))
                .put("/{rest...}", say("put"));
        String all = "\r\nAllow: DELETE, GET, HEAD, OPTIONS, PUT\r\n";
        assertThat(by("POST", "/users/me"))
                .startsWith("HTTP/1.1 405 ")
                .contains(all)
                .endsWith(
                        "\r\n\r\n"
                            + "POST is not allowed here: allowed are DELETE, GET, HEAD, OPTIONS,"
                            + " PUT\n");
        assertThat(by("OPTIONS", "/users/me")).startsWith("HTTP/1.1 204 ").contains(all);
        assertThat(by("HEAD", "/users/you"))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: DELETE, OPTIONS, PUT\r\n");
    }

    @Test
    @Clause("H-5")
    void files_ofTheRoot_areThereBesideARouteForAnotherMethod(@TempDir Path directory)
            throws IOException {
        Files.writeString(directory.resolve("index.html"), "<p>home");
        server.post("/", say("posted")).files("/", directory);
        assertThat(get("/")).startsWith("HTTP/1.1 200 ").endsWith("<p>home");
        assertThat(by("POST", "/")).endsWith("\r\n\r\nposted");
        assertThat(by("PUT", "/")).contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n");
    }

    @Test
    @Clause("H-5")
    void headOfAWebSocket_isThatOfAWiderPattern() {
        server.webSocket("/chat", _ -> {}).get("/{page}", say("page"));
        assertThat(by("HEAD", "/chat")).startsWith("HTTP/1.1 200 ");
    }

    // ------------------------------------------------------------------ errors

    @Test
    @Clause("H-5")
    void errorHandler_answersForMethodsToo_andFindsAllowSet() {
        List<String> seen = new ArrayList<>();
        server.get("/a", NOTHING)
                .onError(
                        Throwable.class,
                        (failure, request, response) -> {
                            int status = ((HttpException) failure).status();
                            seen.add(request.method() + " " + status);
                            return response.status(status).json(List.of(status));
                        });
        assertThat(by("PUT", "/a"))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS\r\n")
                .endsWith("\r\n\r\n[405]");
        assertThat(by("BREW", "/a"))
                .startsWith("HTTP/1.1 501 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS\r\n")
                .endsWith("\r\n\r\n[501]");
        assertThat(by("BREW", "/b"))
                .startsWith("HTTP/1.1 501 ")
                .doesNotContain("Allow")
                .endsWith("\r\n\r\n[501]");
        assertThat(get("/b")).startsWith("HTTP/1.1 404 ").doesNotContain("Allow");
        assertThat(seen).containsExactly("PUT 405", "BREW 501", "BREW 501", "GET 404");
    }

    @Test
    @Clause("H-5")
    void errorHandler_thatFails_leavesAllowToTheUsualAnswer() {
        server.get("/a", NOTHING)
                .onError(
                        Throwable.class,
                        (failure, _, response) -> {
                            response.header("X-Half", "made");
                            throw (HttpException) failure;
                        });
        assertThat(by("PUT", "/a"))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS\r\n")
                .doesNotContain("X-Half")
                .endsWith("\r\n\r\nPUT is not allowed here: allowed are GET, HEAD, OPTIONS\n");
    }

    @Test
    @Clause("H-3")
    void retryAfter_isThereWhoeverAnswersFor503() {
        server.get(
                "/full",
                (_, _) -> {
                    throw new HttpException(503, "full");
                });
        assertThat(get("/full")).contains("\r\nRetry-After: 1\r\n").endsWith("\r\n\r\nfull\n");
        server.onError(Throwable.class, (_, _, response) -> response.status(503).json("full"));
        assertThat(get("/full")).contains("\r\nRetry-After: 1\r\n").endsWith("\r\n\r\n\"full\"");
        server.onError(
                Throwable.class, (_, _, response) -> response.header("Retry-After", "60").send());
        assertThat(get("/full")).containsOnlyOnce("Retry-After: ").contains("Retry-After: 60");
    }

    // ------------------------------------------------------------------ patterns

    @Test
    @Clause("H-5")
    void pattern_thatIsNotASCII_standsForEverySpelling() {
        server.get("/caf\u00e9", say("literal"))
                .get("/caf\u00e9/{x}", (q, r) -> r.text(q.pathParam("x")))
                .get("/100%", say("percent"))
                .get("/a b", say("space"));
        for (String cafe : List.of("caf%C3%A9", "caf%c3%a9", "caf%C3%a9", "%63af%c3%A9")) {
            assertThat(get("/" + cafe)).endsWith("\r\n\r\nliteral");
            assertThat(get("/" + cafe + "/1%2B")).endsWith("\r\n\r\n1+");
        }
        assertThat(get("/100%25")).endsWith("\r\n\r\npercent");
        assertThat(get("/100%")).startsWith("HTTP/1.1 400 ");
        assertThat(get("/a%20b")).endsWith("\r\n\r\nspace");
    }

    @Test
    @Clause("H-5")
    void pattern_thatIsEncodedOrMoreThanAPath_isRefusedWithTheRemedy(@TempDir Path directory) {
        assertThatThrownBy(() -> server.get("/caf%C3%A9/{x}", NOTHING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("/caf%C3%A9/{x} is encoded, as %C3 shows")
                .hasMessageContaining("decoded");
        assertThatThrownBy(() -> server.get("/a?b", NOTHING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("/a?b", "question mark", "request.queryParam");
        assertThatThrownBy(() -> server.any("/a#b", NOTHING))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("/a#b", "number sign", "leave it out");
        assertThatThrownBy(() -> server.files("/a%20b", directory))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("decoded");
    }

    // ------------------------------------------------------------------ where it is

    @Test
    @Clause("H-5")
    void uri_isWhatABrowserIsTold(@TempDir Path directory) {
        assertThatThrownBy(server::uri)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("listen");
        server.listen(0);
        int port = ((InetSocketAddress) server.address()).getPort();
        assertThat(server.uri()).hasToString("http://localhost:" + port + "/");
        server.listen(
                new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0),
                ListenerConfig.DEFAULT);
        port = ((InetSocketAddress) server.address()).getPort();
        assertThat(server.uri()).hasToString("http://127.0.0.2:" + port + "/");
        server.listen(0, Tls.selfSigned("localhost"));
        assertThat(server.uri().toString()).startsWith("https://localhost:");
        server.listen(UnixDomainSocketAddress.of(directory.resolve("s")), ListenerConfig.DEFAULT);
        assertThatThrownBy(server::uri)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("only for TCP");
    }

    @Test
    @Clause("H-5")
    void pattern_inTheSyntaxOfAnotherRouter_isRefusedWithTheRightOne() {
        assertRefused("/a/:id", "write {id}", "%3Aid if");
        assertRefused("/a/:id/b", "write {id}");
        assertRefused("/a/:/b", "write {name}");
        assertRefused("/b/*", "write {rest...}", "%2A if");
        assertRefused("/b/**", "write {rest...}");
        assertRefused("/b/*path", "write {path...}");
        assertRefused("/b/*/c", "write {name}");
        assertRefused("*", "begin with a slash");
        assertRefused("/b/*.css", "star", "{name}");
        assertRefused("/b/a*", "star", "a%2A");
        assertRefused("/b/<id>", "write {id}");
        assertRefused("/b/{id:[0-9]+}", "{id}", "handler");
        assertRefused("/b/{*rest}", "{rest...}");
        assertRefused("/b/{}", "{id}");
        assertThatThrownBy(() -> server.files("/f/*", Path.of(".")))
                .hasMessageContaining("all paths below it");
        assertThat(get("/a/:id")).startsWith("HTTP/1.1 404 ");
    }

    private void assertRefused(String pattern, String... remedy) {
        assertThatThrownBy(() -> server.get(pattern, (_, response) -> response.send()))
                .as(pattern)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll(remedy);
    }

    @Test
    @Clause("H-5")
    void pattern_withColonsStarsAndBracesWrittenOut_standsForThoseLiterally() {
        server.get("/a/%3Aid", (_, response) -> response.text("colon"))
                .get("/v1/notes:search", (_, response) -> response.text("inner colon"))
                .get("/b/%2A", (_, response) -> response.text("star"))
                .get("/c/%7Bx%7D", (_, response) -> response.text("braces"));
        assertThat(contentOf(get("/a/:id"))).isEqualTo("colon");
        assertThat(contentOf(get("/a/%3aid"))).isEqualTo("colon");
        assertThat(contentOf(get("/v1/notes:search"))).isEqualTo("inner colon");
        assertThat(contentOf(get("/b/*"))).isEqualTo("star");
        assertThat(contentOf(get("/b/%2A"))).isEqualTo("star");
        assertThat(contentOf(get("/c/%7Bx%7d"))).isEqualTo("braces");
        assertThat(get("/b/x")).startsWith("HTTP/1.1 404 ");
    }
}
