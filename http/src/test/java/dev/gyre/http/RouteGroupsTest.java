package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Groups of routes, and the order of middleware.
@On("simulated")
class RouteGroupsTest extends HttpFixture {
    private final List<String> calls = new ArrayList<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    private Middleware note(String name) {
        return (request, response, next) -> {
            calls.add(name + " " + request.routePattern());
            return next.handle(request, response);
        };
    }

    private static Handler say(String text) {
        return (_, response) -> response.text(text);
    }

    private String body(String target) {
        return contentOf(get(target));
    }

    // ------------------------------------------------------------------ order

    @Test
    @Clause("H-7")
    void middleware_ofServerHostAndGroups_runsFromTheOutsideIn() {
        server.host(
                "a",
                host ->
                        host.route(
                                        "/outer",
                                        outer ->
                                                outer.route(
                                                                "/inner",
                                                                inner ->
                                                                        inner.get("/x", say("x"))
                                                                                .use(note("4")))
                                                        .use(note("3")))
                                .use(note("2")));
        server.use(note("0")).use(note("1"));
        assertThat(body("/outer/inner/x")).isEqualTo("x");
        String pattern = " /outer/inner/x";
        assertThat(calls)
                .containsExactly(
                        "0" + pattern, "1" + pattern, "2" + pattern, "3" + pattern, "4" + pattern);
    }

    @Test
    @Clause("H-7")
    void middleware_ofAGroup_runsForItsRoutesOnly() {
        server.route("/api", api -> api.use(note("api")).get("/a", say("in")))
                .get("/api/b", say("beside"))
                .get("/c", say("out"));
        assertThat(body("/api/b")).isEqualTo("beside");
        assertThat(body("/c")).isEqualTo("out");
        assertThat(get("/api/none")).startsWith("HTTP/1.1 404 ");
        assertThat(calls).isEmpty();
        assertThat(body("/api/a")).isEqualTo("in");
        assertThat(calls).containsExactly("api /api/a");
    }

    @Test
    @Clause("H-7")
    void middleware_ofRequestsWithoutARoute_isComposedOnce_untilItChanges() {
        List<Handler> seen = new ArrayList<>();
        server.use(
                (request, response, next) -> {
                    seen.add(next);
                    return next.handle(request, response);
                });
        assertThat(get("/none")).startsWith("HTTP/1.1 404 ").endsWith("no resource at /none\n");
        assertThat(get("/other")).startsWith("HTTP/1.1 404 ").endsWith("no resource at /other\n");
        assertThat(seen.get(1)).isSameAs(seen.get(0));
        server.use(note("late"));
        assertThat(get("/none")).startsWith("HTTP/1.1 404 ");
        assertThat(calls).containsExactly("late null");
    }

    @Test
    @Clause("H-7")
    void middleware_addedWhileTheServerListens_runsForAllRoutes() {
        server.route("/api", api -> api.get("/a", say("a")));
        assertThat(body("/api/a")).isEqualTo("a");
        server.use(note("late"));
        assertThat(body("/api/a")).isEqualTo("a");
        assertThat(calls).containsExactly("late /api/a");
    }

    @Test
    @Clause("H-7")
    void requestWithoutARoute_passesTheServersMiddlewareOnly() {
        server.route("/api", api -> api.use(note("api")).get("/a", say("a"))).use(note("server"));
        assertThat(get("/none")).startsWith("HTTP/1.1 404 ");
        assertThat(ask("PUT /api/a HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 405 ");
        assertThat(ask("BREW /api/a HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 501 ");
        assertThat(ask("OPTIONS /api/a HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 204 ");
        assertThat(get("/%ff")).startsWith("HTTP/1.1 400 ");
        assertThat(calls).hasSize(5).containsOnly("server null");
    }

    @Test
    @Clause("H-7")
    void middleware_readsPathParameters_andRespondsInPlaceOfTheHandler() {
        server.route(
                "/users/{id}",
                user ->
                        user.use(
                                        (request, response, next) ->
                                                request.pathLong("id") < 10
                                                        ? next.handle(request, response)
                                                        : response.status(403).text("no"))
                                .get("/", (q, r) -> r.text("user " + q.pathParam("id")))
                                .get("/posts", say("posts")));
        assertThat(body("/users/7")).isEqualTo("user 7");
        assertThat(body("/users/7/posts")).isEqualTo("posts");
        assertThat(get("/users/70")).startsWith("HTTP/1.1 403 ");
        assertThat(get("/users/x")).startsWith("HTTP/1.1 400 ").contains("path parameter id");
    }

    @Test
    @Clause("H-7")
    void middleware_thatCallsNextLater_reachesTheHandler() {
        server.use(
                        (request, response, next) ->
                                Promise.resolved(loop, 1)
                                        .thenCompose(_ -> next.handle(request, response)))
                .get("/a", say("later"));
        assertThat(body("/a")).isEqualTo("later");
    }

    // ------------------------------------------------------------------ prefixes

    @Test
    @Clause("H-7")
    void prefix_ofNestedGroups_isPutBeforeTheirPatterns() {
        server.route(
                        "/api/",
                        api ->
                                api.get("", say("itself"))
                                        .route("/v1", v1 -> v1.get("/{rest...}", say("v1")))
                                        .route("", plain -> plain.get("/plain", say("plain")))
                                        .any("/any", say("any")))
                .route("/", root -> root.get("/", say("home")));
        assertThat(body("/api")).isEqualTo("itself");
        assertThat(body("/api/v1/a/b")).isEqualTo("v1");
        assertThat(body("/api/plain")).isEqualTo("plain");
        assertThat(contentOf(ask("PUT /api/any HTTP/1.1\r\nHost: a", ""))).isEqualTo("any");
        assertThat(body("/")).isEqualTo("home");
    }

    @Test
    @Clause("H-7")
    void prefix_thatIsMalformed_isRefusedWithTheRemedy() {
        assertThatThrownBy(() -> server.route("api", _ -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("begin with a slash");
        assertThatThrownBy(() -> server.route("/a/{rest...}", _ -> {}))
                .hasMessageContaining("must not end with a rest parameter");
        assertThatThrownBy(() -> server.route("/a/:id", _ -> {})).hasMessageContaining("{id}");
        assertThatThrownBy(() -> server.route("/u/{id}", u -> u.files("/f", Path.of("."))))
                .hasMessageContaining("no parameters");
        assertThatThrownBy(() -> server.route("/u/{id}", u -> u.get("/{id}", say("x"))))
                .hasMessageContaining("its own name");
    }

    @Test
    @Clause("H-7")
    void files_ofAGroup_areBelowItsPrefix_andPassItsMiddleware(@TempDir Path directory)
            throws IOException {
        Files.writeString(directory.resolve("a.txt"), "a file");
        loop.close();
        loop = EventLoop.open();
        server = HttpServer.on(loop);
        server.route("/app", app -> app.files("/static", directory).use(note("app")));
        assertThat(body("/app/static/a.txt")).isEqualTo("a file");
        assertThat(calls).containsExactly("app /app/static/{path...}");
    }

    @Test
    @Clause("H-7")
    void webSocketAndBlockingRoute_ofAGroup_areBelowItsPrefix() {
        server.route(
                "/api",
                api ->
                        api.use(note("api"))
                                .webSocket("/chat", _ -> {})
                                .blockingGet("/wait", (_, response) -> response.text("waited")));
        assertThat(body("/api/wait")).isEqualTo("waited");
        assertThat(get("/api/chat")).startsWith("HTTP/1.1 426 ");
        assertThat(calls).containsExactly("api /api/wait", "api /api/chat");
    }
}
