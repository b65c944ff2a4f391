package dev.gyre.http.testkit;

import dev.gyre.Promise;
import dev.gyre.http.BaseHttpServer;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.JsonMapper;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/// A client for tests of an [HttpServer] or [HttpServerGroup], in a simulated world or over real
/// sockets. The same test runs in both.
///
/// ```java
/// void todos(TestClient client) {
///     client.get("/api/todos").expectStatus(200).expectJson("[]");
///     client.post("/api/todos").json("{\"text\": \"milk\"}").expectStatus(201);
///     client.webSocket("/chat").send("hi").expectText("hi").close();
/// }
///
/// try (var world = SimulatedWorld.seed(42)) {
///     todos(TestClient.of(world, app(world.loop()).listen(80)));
/// }
/// try (var loop = EventLoop.open()) {
///     todos(TestClient.of(app(loop).listen(0)));
/// }
/// ```
///
/// Each call waits for its result. A failed expectation throws an [AssertionError] that shows the
/// request and the response, and in a world the seed and the end of the trace.
///
/// **Loop.** The client uses the loop of the server. If no thread runs the loop, the waiting thread
/// does. In a world, time advances until the result arrives. If another thread runs the loop, the
/// client only waits; start that thread before the first request.
///
/// **Cookies** of responses are sent with later requests, like in a browser. See
/// [#keepCookies(boolean)].
///
/// **Redirects** are followed on request only: see [TestResponse#follow()].
///
/// **Threads.** One at a time, and not the loop's callbacks.
public final class TestClient implements AutoCloseable {
    final LoopDriver driver;
    final HttpClient http;
    final URI base;
    private final HttpClientConfig config;
    private final CookieJar cookies = new CookieJar();
    private boolean keepsCookies = true;
    private JsonMapper jsonMapper;

    private TestClient(LoopDriver driver, BaseHttpServer<?> server, HttpClientConfig config) {
        this.driver = driver;
        this.config = Objects.requireNonNull(config, "config");
        jsonMapper = config.jsonMapper();
        base = driver.get(server::uri);
        http = driver.get(() -> HttpClient.on(driver.loop, config));
    }

    /// Creates a client in a simulated world.
    ///
    /// @param server listens on the loop of the world
    /// @throws IllegalArgumentException if the server belongs to another loop
    /// @throws IllegalStateException if the server does not listen
    public static TestClient of(SimulatedWorld world, HttpServer server) {
        return of(world, server, defaults());
    }

    /// Creates a client in a simulated world with a configuration, for example with TLS.
    ///
    /// @param server listens on the loop of the world
    /// @throws IllegalArgumentException if the server belongs to another loop
    /// @throws IllegalStateException if the server does not listen
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    public static TestClient of(SimulatedWorld world, HttpServer server, HttpClientConfig config) {
        if (server.loop() != world.loop()) {
            throw new IllegalArgumentException(
                    "the server runs on another loop: create it with HttpServer.on(world.loop())");
        }
        return new TestClient(new LoopDriver(server.loop(), world, false), server, config);
    }

    /// Creates a client over real sockets.
    ///
    /// @throws IllegalStateException if the server does not listen
    public static TestClient of(HttpServer server) {
        return of(server, defaults());
    }

    /// Creates a client over real sockets with a configuration, for example with TLS.
    ///
    /// @throws IllegalStateException if the server does not listen
    public static TestClient of(HttpServer server, HttpClientConfig config) {
        return new TestClient(new LoopDriver(server.loop(), null, false), server, config);
    }

    /// Creates a client in a simulated world, for a server on a group of the world
    /// ([SimulatedWorld#group]). Starts the group. Time advances in steps of a millisecond.
    ///
    /// @throws IllegalStateException if the server does not listen
    public static TestClient of(SimulatedWorld world, HttpServerGroup server) {
        return of(world, server, defaults());
    }

    /// Creates a client in a simulated world with a configuration, as
    /// [#of(SimulatedWorld, HttpServerGroup)].
    public static TestClient of(
            SimulatedWorld world, HttpServerGroup server, HttpClientConfig config) {
        server.group().start();
        return new TestClient(new LoopDriver(world.loop(), world, true), server, config);
    }

    /// Creates a client over real sockets, for a server on a group. Starts the group, and uses one
    /// of its loops.
    ///
    /// @throws IllegalStateException if the server does not listen
    public static TestClient of(HttpServerGroup server) {
        return of(server, defaults());
    }

    /// Creates a client over real sockets with a configuration, as [#of(HttpServerGroup)].
    public static TestClient of(HttpServerGroup server, HttpClientConfig config) {
        server.group().start();
        return new TestClient(new LoopDriver(server.group().next(), null, true), server, config);
    }

    private static HttpClientConfig defaults() {
        // The timeout of the TestClient applies instead.
        return HttpClientConfig.DEFAULT.withTimeout(Duration.ZERO);
    }

    // ------------------------------------------------------------------ settings

    /// Sets how long each call waits at most, in a world in simulated time. Default 30 s.
    ///
    /// @return this client
    /// @throws IllegalArgumentException if the timeout is not positive
    public TestClient timeout(Duration timeout) {
        driver.timeout(timeout);
        return this;
    }

    /// Sets the mapper of [TestRequest#json(Object)] and [TestResponse#json(Class)]. Default
    /// [HttpClientConfig#jsonMapper()].
    ///
    /// @return this client
    public TestClient jsonMapper(JsonMapper mapper) {
        jsonMapper = Objects.requireNonNull(mapper, "mapper");
        return this;
    }

    JsonMapper jsonMapper() {
        return jsonMapper;
    }

    /// Sets whether cookies of responses are kept and sent. Default true. False also forgets the
    /// cookies kept so far.
    ///
    /// @return this client
    public TestClient keepCookies(boolean keep) {
        keepsCookies = keep;
        if (!keep) {
            cookies.clear();
        }
        return this;
    }

    /// Returns the value of a kept cookie; `null` if absent or expired.
    public @Nullable String cookie(String name) {
        return cookies.get(name, driver.loop.nanoTime());
    }

    // ------------------------------------------------------------------ requests

    /// Begins a `GET` request.
    ///
    /// @param path percent-encoded, with an optional query, such as `/users/7?full=true`
    public TestRequest get(String path) {
        return request("GET", path);
    }

    /// Begins a `HEAD` request.
    ///
    /// @param path as for [#get]
    public TestRequest head(String path) {
        return request("HEAD", path);
    }

    /// Begins a `POST` request.
    ///
    /// @param path as for [#get]
    public TestRequest post(String path) {
        return request("POST", path);
    }

    /// Begins a `PUT` request.
    ///
    /// @param path as for [#get]
    public TestRequest put(String path) {
        return request("PUT", path);
    }

    /// Begins a `PATCH` request.
    ///
    /// @param path as for [#get]
    public TestRequest patch(String path) {
        return request("PATCH", path);
    }

    /// Begins a `DELETE` request.
    ///
    /// @param path as for [#get]
    public TestRequest delete(String path) {
        return request("DELETE", path);
    }

    /// Begins a request.
    ///
    /// @param path as for [#get]
    public TestRequest request(String method, String path) {
        return new TestRequest(this, method, path);
    }

    // ------------------------------------------------------------------ WebSockets

    /// Opens a WebSocket.
    ///
    /// @param path as for [#get]
    /// @throws AssertionError if the server rejects it
    public TestWebSocket webSocket(String path) {
        return webSocket(path, WebSocketConfig.DEFAULT.withStreams(config.streams()));
    }

    /// Opens a WebSocket with a configuration, for example with headers or protocols. Kept cookies
    /// are sent unless it has a `Cookie` header.
    ///
    /// @param path as for [#get]
    /// @throws AssertionError if the server rejects it
    public TestWebSocket webSocket(String path, WebSocketConfig config) {
        URI uri =
                URI.create(
                        base.getScheme().replace("http", "ws")
                                + "://"
                                + base.getRawAuthority()
                                + path);
        boolean hasOwn =
                config.headers().stream().anyMatch(own -> own.getKey().equalsIgnoreCase("Cookie"));
        String cookie = hasOwn ? null : cookieHeader(cookiesFor(path));
        WebSocketConfig complete = cookie == null ? config : config.withHeader("Cookie", cookie);
        try {
            return driver.await(
                    () -> {
                        Promise<WebSocket> opened = WebSocket.connect(driver.loop, uri, complete);
                        return opened.then(socket -> new TestWebSocket(driver, socket, path));
                    });
        } catch (LoopDriver.WaitFailedException e) {
            throw driver.failure(
                    "WebSocket " + path + " was not opened: " + e.getMessage(), e.getCause());
        }
    }

    // ------------------------------------------------------------------ cookies

    Map<String, String> cookiesFor(String path) {
        boolean isSecure = base.getScheme().equals("https");
        return cookies.matching(withoutQuery(path), isSecure, driver.loop.nanoTime());
    }

    void keep(List<String> setCookies, String path) {
        if (keepsCookies) {
            cookies.store(setCookies, withoutQuery(path), driver.loop.nanoTime());
        }
    }

    static @Nullable String cookieHeader(Map<String, String> cookies) {
        return cookies.isEmpty()
                ? null
                : cookies.entrySet().stream()
                        .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
                        .collect(Collectors.joining("; "));
    }

    private static String withoutQuery(String path) {
        int query = path.indexOf('?');
        return query < 0 ? path : path.substring(0, query);
    }

    /// Closes all connections of requests. The server and its loop stay open.
    @Override
    public void close() {
        http.close();
    }

    @Override
    public String toString() {
        return "TestClient[" + base + "]";
    }
}
