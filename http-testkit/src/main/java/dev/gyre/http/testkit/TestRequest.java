package dev.gyre.http.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ClientRequest;
import dev.gyre.http.ClientResponse;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A request of a [TestClient]. It is sent by [#send()], [#expectStatus(int)], [#stream()] or
/// [#events()], once.
///
/// ```java
/// client.get("/search").queryParam("q", "loops").header("Accept", "text/html").expectStatus(200);
/// client.post("/login").form("user", "ada", "password", "secret").expectStatus(302);
/// client.post("/files").part("title", "Cat").file("photo", "cat.png", "image/png", png).send();
/// ```
public final class TestRequest {
    private record Header(String name, String value) {}

    private static final class Part {
        final String head;
        final byte[] body;

        Part(String head, byte[] body) {
            this.head = head;
            this.body = body;
        }
    }

    private final TestClient client;
    private final String method;
    private final StringBuilder target;
    private final List<Header> headers = new ArrayList<>();
    private final Map<String, String> cookies = new LinkedHashMap<>();
    private final List<Part> parts = new ArrayList<>();
    private byte @Nullable [] body;
    private @Nullable String contentType;

    TestRequest(TestClient client, String method, String path) {
        this.client = client;
        this.method = Objects.requireNonNull(method, "method");
        target = new StringBuilder(path);
    }

    /// Returns the request that a redirect to this request asks for.
    ///
    /// @param path the new path and query
    /// @param repeat whether method and body stay the same
    TestRequest redirected(String path, boolean repeat) {
        TestRequest next = new TestRequest(client, repeat || isHead() ? method : "GET", path);
        if (repeat) {
            next.body = body;
            next.contentType = contentType;
        }
        return next;
    }

    private boolean isHead() {
        return method.equals("HEAD");
    }

    // ------------------------------------------------------------------ head

    /// Sets a header in place of those with the same name. `Host` may be set for virtual hosts.
    ///
    /// @return this request
    public TestRequest header(String name, String value) {
        headers.removeIf(header -> header.name.equalsIgnoreCase(name));
        return addHeader(name, value);
    }

    /// Adds a header after those with the same name.
    ///
    /// @return this request
    public TestRequest addHeader(String name, String value) {
        headers.add(new Header(name, value));
        return this;
    }

    /// Adds a query parameter. Name and value are percent-encoded here.
    ///
    /// @return this request
    public TestRequest queryParam(String name, Object value) {
        target.append(target.indexOf("?") < 0 ? '?' : '&')
                .append(encode(name))
                .append('=')
                .append(encode(value.toString()));
        return this;
    }

    /// Sends a cookie with this request only. It replaces a kept cookie of that name.
    ///
    /// @return this request
    public TestRequest cookie(String name, String value) {
        cookies.put(name, value);
        return this;
    }

    // ------------------------------------------------------------------ body

    /// Sets the body.
    ///
    /// @return this request
    public TestRequest body(byte[] bytes) {
        body = bytes.clone();
        return this;
    }

    /// Sets a text as the body, in UTF-8.
    ///
    /// @return this request
    public TestRequest body(String text) {
        return body(text, "text/plain; charset=utf-8");
    }

    /// Sets a text of a type as the body, in UTF-8.
    ///
    /// @return this request
    public TestRequest body(String text, String contentType) {
        this.contentType = contentType;
        return body(text.getBytes(UTF_8));
    }

    /// Sets a JSON text as the body. It is sent as it is, even if malformed.
    ///
    /// @return this request
    public TestRequest json(String text) {
        return body(text, "application/json");
    }

    /// Sets a value as a JSON body through the client's [TestClient#jsonMapper].
    ///
    /// @return this request
    public TestRequest json(@Nullable Object value) {
        contentType = "application/json";
        return body(client.jsonMapper().write(value));
    }

    /// Sets a URL-encoded form as the body.
    ///
    /// @param namesAndValues alternating names and values
    /// @return this request
    /// @throws IllegalArgumentException if a value is missing
    public TestRequest form(String... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException(
                    "the last form field has no value: pass names and values alternately");
        }
        StringBuilder form = new StringBuilder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            form.append(i == 0 ? "" : "&")
                    .append(encode(namesAndValues[i]))
                    .append('=')
                    .append(encode(namesAndValues[i + 1]));
        }
        return body(form.toString(), "application/x-www-form-urlencoded");
    }

    /// Adds a text part to a `multipart/form-data` body.
    ///
    /// @return this request
    public TestRequest part(String name, String value) {
        parts.add(new Part("name=\"" + quote(name) + "\"", value.getBytes(UTF_8)));
        return this;
    }

    /// Adds a file to a `multipart/form-data` body.
    ///
    /// @return this request
    public TestRequest file(String name, String fileName, String contentType, byte[] bytes) {
        String head =
                "name=\"%s\"; filename=\"%s\"\r\nContent-Type: %s"
                        .formatted(quote(name), quote(fileName), contentType);
        parts.add(new Part(head, bytes.clone()));
        return this;
    }

    String path() {
        return target.toString();
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    /// Escapes a name of a part like browsers do.
    private static String quote(String text) {
        return text.replace("\"", "%22").replace("\r", "%0D").replace("\n", "%0A");
    }

    private byte @Nullable [] completeBody() {
        if (parts.isEmpty()) {
            return body;
        }
        if (body != null) {
            throw new IllegalStateException(
                    "the request has a body and parts: use body, form or json without part and"
                            + " file");
        }
        String boundary = boundary();
        ByteArrayOutputStream multipart = new ByteArrayOutputStream();
        for (Part part : parts) {
            String delimiter = "--" + boundary + "\r\nContent-Disposition: form-data; ";
            multipart.writeBytes((delimiter + part.head + "\r\n\r\n").getBytes(UTF_8));
            multipart.writeBytes(part.body);
            multipart.writeBytes("\r\n".getBytes(UTF_8));
        }
        multipart.writeBytes(("--" + boundary + "--\r\n").getBytes(UTF_8));
        contentType = "multipart/form-data; boundary=" + boundary;
        return multipart.toByteArray();
    }

    /// Returns a boundary that no part contains. The same parts always get the same boundary.
    private String boundary() {
        for (int i = 0; ; i++) {
            String boundary = "gyre-test-boundary-" + i;
            if (parts.stream().noneMatch(part -> new String(part.body, UTF_8).contains(boundary))) {
                return boundary;
            }
        }
    }

    // ------------------------------------------------------------------ sending

    /// Sends the request and waits for the whole response.
    ///
    /// @throws AssertionError if no complete response arrives
    public TestResponse send() {
        byte[] bytes = prepare();
        try {
            ClientResponse response = client.driver.await(() -> send(newRequest(), bytes));
            client.keep(response.headers().getAll("Set-Cookie"), target.toString());
            return new TestResponse(client, this, response);
        } catch (LoopDriver.WaitFailedException e) {
            throw noResponse(e);
        }
    }

    /// Sends the request like [#send()] and checks the status of the response.
    ///
    /// @throws AssertionError if the status differs, or no complete response arrives
    public TestResponse expectStatus(int status) {
        return send().expectStatus(status);
    }

    /// Sends the request and waits for the head of the response. The body is read piece by piece.
    ///
    /// @throws AssertionError if no response arrives
    public TestStream stream() {
        byte[] bytes = prepare();
        TestStream stream = new TestStream(client, this);
        try {
            ClientResponse head =
                    client.driver.await(
                            () -> {
                                ClientRequest request = newRequest();
                                return stream.start(request, () -> send(request, bytes));
                            });
            client.keep(head.headers().getAll("Set-Cookie"), target.toString());
            return stream;
        } catch (LoopDriver.WaitFailedException e) {
            throw noResponse(e);
        }
    }

    /// Sends the request and waits for the head of an event stream (`text/event-stream`).
    ///
    /// @throws AssertionError if the response has another status than 200, or another type
    public TestEvents events() {
        if (headers.stream().noneMatch(header -> header.name.equalsIgnoreCase("Accept"))) {
            addHeader("Accept", "text/event-stream");
        }
        TestStream stream = stream().expectStatus(200);
        String type = stream.header("Content-Type");
        if (type == null || !type.startsWith("text/event-stream")) {
            throw stream.failure("expected an event stream but Content-Type was " + type);
        }
        return new TestEvents(stream);
    }

    /// Completes headers and body.
    private byte @Nullable [] prepare() {
        byte[] bytes = completeBody();
        boolean hasType =
                headers.stream().anyMatch(header -> header.name.equalsIgnoreCase("Content-Type"));
        if (contentType != null && !hasType) {
            addHeader("Content-Type", contentType);
        }
        Map<String, String> all = client.cookiesFor(target.toString());
        all.putAll(cookies);
        String cookie = TestClient.cookieHeader(all);
        boolean hasCookie =
                headers.stream().anyMatch(header -> header.name.equalsIgnoreCase("Cookie"));
        if (cookie != null && !hasCookie) {
            addHeader("Cookie", cookie);
        }
        body = bytes;
        parts.clear();
        return bytes;
    }

    private ClientRequest newRequest() {
        ClientRequest request = client.http.request(method, client.base).target(target.toString());
        headers.forEach(header -> request.addHeader(header.name, header.value));
        return request;
    }

    private static Promise<ClientResponse> send(ClientRequest request, byte @Nullable [] bytes) {
        return bytes == null ? request.send() : request.send(bytes);
    }

    private AssertionError noResponse(LoopDriver.WaitFailedException failure) {
        return client.driver.failure(
                "no response: " + failure.getMessage() + "\n\n" + this, failure.getCause());
    }

    /// Returns the head and the start of the body, as shown by failures.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(method).append(' ').append(target).append('\n');
        headers.forEach(
                header -> text.append(header.name).append(": ").append(header.value).append('\n'));
        if (body != null) {
            text.append('\n').append(TestResponse.show(body));
        }
        return text.toString();
    }
}
