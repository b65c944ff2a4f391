package dev.gyre.http;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// Thrown by a handler, or the reason its promise is rejected with, to send an error response.
///
/// ```java
/// throw new HttpException(404, "no user " + id);
/// throw new HttpException(401, "log in first").withHeader("WWW-Authenticate", "Basic");
/// throw new HttpException(422, "invalid order").withError("amount", "must be positive");
/// throw new HttpException(409, "sold out").withBody(Map.of("alternatives", alternatives));
/// ```
///
/// The server's own exceptions for parameters, forms and JSON name the field in [#errors()].
///
/// Immutable. It has no stack trace: it is part of a normal response.
public final class HttpException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private static final Set<String> FRAMING =
            Set.of("connection", "content-length", "transfer-encoding");

    private final int status;
    private final transient Headers headers;
    private final transient @Nullable Object body;
    private final transient Map<String, String> errors;

    /// Creates an exception.
    ///
    /// @param status from 400 to 599
    /// @param message the body of the response, visible to the client
    /// @throws IllegalArgumentException if the status is out of range
    public HttpException(int status, String message) {
        this(status, message, null);
    }

    /// Creates an exception with a cause, which the client does not see.
    ///
    /// @param status from 400 to 599
    /// @param message the body of the response, visible to the client
    /// @throws IllegalArgumentException if the status is out of range
    public HttpException(int status, String message, @Nullable Throwable cause) {
        this(status, message, cause, Headers.of(), null, Map.of());
    }

    private HttpException(
            int status,
            String message,
            @Nullable Throwable cause,
            Headers headers,
            @Nullable Object body,
            Map<String, String> errors) {
        super(message, cause, false, false);
        if (status < 400 || status > 599) {
            throw new IllegalArgumentException(
                    "the status of an error must be from 400 to 599, but is " + status);
        }
        this.status = status;
        this.headers = headers;
        this.body = body;
        this.errors = errors;
    }

    /// Returns a copy with a header for the response. It replaces one of the same name.
    ///
    /// @throws IllegalArgumentException if name or value are invalid in a header, or the server
    ///     sets the header: `Connection`, `Content-Length`, `Transfer-Encoding`
    public HttpException withHeader(String name, String value) {
        if (FRAMING.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException("the server sets " + name + ": remove it");
        }
        return new HttpException(
                status, message(), getCause(), headers.with(name, value), body, errors);
    }

    /// Returns a copy with a problem of one field of the request. It replaces one of the same
    /// field. [ErrorFormat#PROBLEM_JSON] lists all of them, [ErrorFormat#TEXT] sends the message
    /// only.
    ///
    /// @param field such as `title` or `items[2].price`
    /// @param problem such as `must not be empty`, visible to the client
    public HttpException withError(String field, String problem) {
        Map<String, String> all = new LinkedHashMap<>(errors);
        all.put(Objects.requireNonNull(field, "field"), Objects.requireNonNull(problem, "problem"));
        return new HttpException(
                status, message(), getCause(), headers, body, Collections.unmodifiableMap(all));
    }

    /// Returns a copy whose response has a JSON body instead of the message.
    ///
    /// @param jsonValue written by the server's [JsonMapper]
    public HttpException withBody(Object jsonValue) {
        Objects.requireNonNull(jsonValue, "jsonValue");
        return new HttpException(status, message(), getCause(), headers, jsonValue, errors);
    }

    private String message() {
        return Objects.requireNonNullElse(getMessage(), "");
    }

    /// Returns the status of the response.
    public int status() {
        return status;
    }

    /// Returns the headers for the response; empty by default.
    public Headers headers() {
        return headers;
    }

    /// Returns the problems of the request's fields by name; empty by default.
    public Map<String, String> errors() {
        return errors;
    }

    /// Returns the value of the JSON body; `null` if the message is the body.
    public @Nullable Object body() {
        return body;
    }
}
