package dev.gyre.http.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.ClientResponse;
import dev.gyre.http.Headers;
import dev.gyre.http.JsonException;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Type;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// A response to a [TestClient]. Each `expect` method returns this response, or throws an
/// [AssertionError] that shows the request and the response.
///
/// ```java
/// client.get("/todos").expectStatus(200).expectJson("[1, 2]").expectNoHeader("Set-Cookie");
/// ```
///
/// Immutable.
public final class TestResponse {
    private static final int MAX_SHOWN_CHARS = 2_000;

    private final TestClient client;
    private final TestRequest request;
    private final ClientResponse response;
    private final byte[] body;

    TestResponse(TestClient client, TestRequest request, ClientResponse response) {
        this.client = client;
        this.request = request;
        this.response = response;
        body = response.body();
    }

    /// Returns the status code.
    public int status() {
        return response.status();
    }

    /// Returns the headers.
    public Headers headers() {
        return response.headers();
    }

    /// Returns the value of the first header with that name; `null` if absent.
    public @Nullable String header(String name) {
        return response.headers().get(name);
    }

    /// Returns a copy of the body.
    public byte[] body() {
        return body.clone();
    }

    /// Returns the body as UTF-8 text.
    public String text() {
        return response.text();
    }

    /// Returns the body, read as JSON through the client's [TestClient#jsonMapper].
    ///
    /// @throws AssertionError if the body does not fit the type
    /// @throws UnsupportedOperationException if the mapper only writes
    public <T> T json(Class<T> type) {
        return this.<T>json((Type) type);
    }

    /// Returns the body, read as JSON through the client's [TestClient#jsonMapper].
    ///
    /// @throws AssertionError if the body does not fit the type
    /// @throws UnsupportedOperationException if the mapper only writes
    @SuppressWarnings("TypeParameterUnusedInFormals") // like JsonMapper.read
    public <T> T json(Type type) {
        try {
            return client.jsonMapper().read(body, type);
        } catch (JsonException e) {
            throw failure("the body is not a JSON " + type.getTypeName() + ": " + e.getMessage());
        }
    }

    /// Returns the request that this redirect asks for. It is not sent yet, and has the kept
    /// cookies but no other headers. A 307 or 308 repeats method and body, other redirects become a
    /// `GET`.
    ///
    /// ```java
    /// client.post("/login").form("user", "ada").expectStatus(302).follow().expectStatus(200);
    /// ```
    ///
    /// @throws AssertionError if this is not a redirect, or leads to another server
    public TestRequest follow() {
        String location = header("Location");
        if (status() < 300 || status() > 399 || location == null) {
            throw failure("expected a redirect");
        }
        URI to = client.base.resolve(request.path()).resolve(location);
        if (!client.base.getScheme().equals(to.getScheme())
                || !client.base.getRawAuthority().equals(to.getRawAuthority())) {
            throw failure(
                    "expected a redirect to " + client.base + " but Location was " + location);
        }
        String query = to.getRawQuery();
        String path = to.getRawPath() + (query == null ? "" : "?" + query);
        return request.redirected(path, status() == 307 || status() == 308);
    }

    // ------------------------------------------------------------------ expectations

    /// Expects a status code.
    ///
    /// @return this response
    public TestResponse expectStatus(int status) {
        return expect(status() == status, "expected status " + status + " but was " + status());
    }

    /// Expects a header with exactly one value.
    ///
    /// @return this response
    public TestResponse expectHeader(String name, String value) {
        List<String> values = headers().getAll(name);
        return expect(
                values.equals(List.of(value)),
                "expected header " + name + ": " + value + " but was " + show(values));
    }

    /// Expects that no header has this name.
    ///
    /// @return this response
    public TestResponse expectNoHeader(String name) {
        List<String> values = headers().getAll(name);
        return expect(values.isEmpty(), "expected no header " + name + " but was " + show(values));
    }

    /// Expects a cookie with this value to be set by this response.
    ///
    /// @return this response
    public TestResponse expectCookie(String name, String value) {
        List<String> values = headers().getAll("Set-Cookie");
        String expected = name + "=" + value;
        boolean found =
                values.stream()
                        .anyMatch(set -> set.equals(expected) || set.startsWith(expected + ";"));
        return expect(found, "expected cookie " + expected + " but Set-Cookie was " + show(values));
    }

    /// Expects a redirect (3xx) to a location.
    ///
    /// @return this response
    public TestResponse expectRedirect(String location) {
        boolean isRedirect = status() >= 300 && status() <= 399;
        return expect(isRedirect, "expected a redirect but status was " + status())
                .expectHeader("Location", location);
    }

    /// Expects a text as the whole body, in UTF-8.
    ///
    /// @return this response
    public TestResponse expectText(String text) {
        return expect(text().equals(text), "expected body \"" + text + "\"");
    }

    /// Expects a body that contains a text, in UTF-8.
    ///
    /// @return this response
    public TestResponse expectTextContaining(String part) {
        return expect(text().contains(part), "expected body with \"" + part + "\"");
    }

    /// Expects these bytes as the whole body.
    ///
    /// @return this response
    public TestResponse expectBody(byte[] bytes) {
        int difference = Arrays.mismatch(body, bytes);
        return expect(
                difference < 0,
                "expected a body of "
                        + bytes.length
                        + " bytes but was one of "
                        + body.length
                        + " bytes that differs at index "
                        + difference);
    }

    /// Expects a response without a body.
    ///
    /// @return this response
    public TestResponse expectNoBody() {
        return expect(
                body.length == 0, "expected no body but was one of " + body.length + " bytes");
    }

    /// Expects a JSON body with a JSON type. Ignores white space and the order of members. Numbers
    /// are compared by value: 1 equals 1.0.
    ///
    /// @param json the expected JSON text
    /// @return this response
    /// @throws IllegalArgumentException if the expected text is not JSON
    public TestResponse expectJson(String json) {
        Object expected = JsonText.parse(json);
        String type = Objects.requireNonNullElse(header("Content-Type"), "absent");
        expect(
                type.matches("(?i)application/(.+\\+)?json\\b.*"),
                "expected JSON but Content-Type was " + type);
        Object actual;
        try {
            actual = JsonText.parse(text());
        } catch (IllegalArgumentException e) {
            throw failure("expected JSON but the body is not: " + e.getMessage());
        }
        String difference = JsonText.difference(expected, actual, "$");
        return expect(difference == null, "JSON differs at " + difference);
    }

    private TestResponse expect(boolean condition, String message) {
        if (!condition) {
            throw failure(message);
        }
        return this;
    }

    private AssertionError failure(String message) {
        return client.driver.failure(message + "\n\n" + request + "\n\n" + this, null);
    }

    // ------------------------------------------------------------------ messages

    private static String show(List<String> values) {
        return values.isEmpty() ? "absent" : String.join(" | ", values);
    }

    /// Returns the start of a body, or its length if it is not text.
    static String show(byte[] body) {
        String text = new String(body, UTF_8);
        boolean isText =
                text.chars().noneMatch(c -> c == 0xfffd || (c < ' ' && "\t\r\n".indexOf(c) < 0));
        if (!isText) {
            return "(" + body.length + " bytes of binary data)";
        }
        return text.length() <= MAX_SHOWN_CHARS
                ? text
                : text.substring(0, MAX_SHOWN_CHARS)
                        + "… ("
                        + (text.length() - MAX_SHOWN_CHARS)
                        + " more characters)";
    }

    static String showHead(ClientResponse response) {
        StringBuilder text = new StringBuilder("HTTP/1.1 ").append(response.status());
        text.append(' ').append(response.reason()).append('\n');
        response.headers()
                .forEach(
                        (name, value) -> text.append(name).append(": ").append(value).append('\n'));
        return text.toString();
    }

    /// Returns the head and the start of the body, as shown by failures.
    @Override
    public String toString() {
        return showHead(response) + (body.length == 0 ? "" : "\n" + show(body));
    }
}
