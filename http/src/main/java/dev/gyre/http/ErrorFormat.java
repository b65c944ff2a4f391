package dev.gyre.http;

import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.http.internal.server.ErrorFormats;

import java.util.Map;
import java.util.Objects;

/// Formats the body of error responses that no error handler sends. This includes requests rejected
/// before routing: malformed ones, and those beyond a limit or timeout. See
/// [HttpServer#errorFormat].
///
/// ```java
/// server.errorFormat(ErrorFormat.PROBLEM_JSON);
/// ```
///
/// **Failure.** If a format throws, the server logs that and uses [#TEXT].
///
/// **Threads.** Loop thread.
@FunctionalInterface
public interface ErrorFormat {
    /// The message as `text/plain`. The default.
    ErrorFormat TEXT = ErrorFormats.TEXT;

    /// A problem detail as `application/problem+json` (RFC 9457):
    /// `{"type":"about:blank","title":"Not Found","status":404,"detail":"…"}`. If an exception has
    /// [HttpException#errors()], the member `errors` contains them.
    ErrorFormat PROBLEM_JSON = ErrorFormats.PROBLEM_JSON;

    /// Formats a body.
    ///
    /// @param status from 400 to 599
    /// @param message the cause, without internals of the server
    /// @param errors the problems of the request's fields, as [HttpException#errors()]; often empty
    ErrorBody format(int status, String message, Map<String, String> errors);

    /// The body of an error response.
    ///
    /// @param contentType the value of `Content-Type`
    /// @param bytes not copied: do not change them
    @SuppressWarnings("ArrayRecordComponent") // Sent once, never compared.
    record ErrorBody(String contentType, byte[] bytes) {
        /// @throws IllegalArgumentException if the type is not a header value
        public ErrorBody {
            HeaderList.requireValue("Content-Type", contentType);
            Objects.requireNonNull(bytes, "bytes");
        }
    }
}
