package dev.gyre.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.reflect.Type;
import java.util.Objects;

/// The response to a client's request. Immutable.
///
/// **Threads.** Any.
public final class ClientResponse {
    private final int status;
    private final String reason;
    private final Headers headers;
    private final byte[] body;
    private final Headers trailers;
    private final JsonMapper jsonMapper;

    /// Creates a response for tests. It cannot read JSON.
    ///
    /// @param body not changed afterwards
    public ClientResponse(
            int status, String reason, Headers headers, byte[] body, Headers trailers) {
        this(status, reason, headers, body, trailers, JsonMapper.writeOnly());
    }

    /// Creates a response for tests.
    ///
    /// @param body not changed afterwards
    /// @param jsonMapper reads the body in [#json(Class)]
    public ClientResponse(
            int status,
            String reason,
            Headers headers,
            byte[] body,
            Headers trailers,
            JsonMapper jsonMapper) {
        this.status = status;
        this.reason = Objects.requireNonNull(reason, "reason");
        this.headers = Objects.requireNonNull(headers, "headers");
        this.body = Objects.requireNonNull(body, "body");
        this.trailers = Objects.requireNonNull(trailers, "trailers");
        this.jsonMapper = Objects.requireNonNull(jsonMapper, "jsonMapper");
    }

    /// Returns the status, such as 200. Treat a status from 600 on as 5xx (RFC 9110, 15).
    public int status() {
        return status;
    }

    /// Returns the reason phrase, such as `OK`; often empty.
    public String reason() {
        return reason;
    }

    /// Returns the headers.
    public Headers headers() {
        return headers;
    }

    /// Returns a copy of the body; empty if [ClientRequest#onData] consumed it.
    public byte[] body() {
        return body.clone();
    }

    /// Returns the body as text in UTF-8.
    public String text() {
        return new String(body, UTF_8);
    }

    /// Reads the body as JSON, whatever the status is. Check [#status()] first.
    ///
    /// @throws JsonException if the body is not JSON or does not fit the type; names the field, the
    ///     status and the content type
    /// @throws UnsupportedOperationException without [HttpClientConfig#withJsonMapper]
    public <T> T json(Class<T> type) {
        return json((Type) type);
    }

    /// Reads the body as JSON of a generic type, such as a list. Throws as [#json(Class)] does.
    @SuppressWarnings("TypeParameterUnusedInFormals") // as JsonMapper.read
    public <T> T json(Type type) {
        Objects.requireNonNull(type, "type");
        try {
            return jsonMapper.read(body.clone(), type);
        } catch (JsonException e) {
            String contentType = headers.get("Content-Type");
            String shown = contentType == null ? "no content type" : contentType;
            throw new JsonException(
                    e.path(), e.problem() + " (response " + status + ", " + shown + ")", e);
        }
    }

    /// Returns the trailers.
    public Headers trailers() {
        return trailers;
    }

    @Override
    public String toString() {
        return status + " " + reason + ", " + body.length + " bytes";
    }
}
