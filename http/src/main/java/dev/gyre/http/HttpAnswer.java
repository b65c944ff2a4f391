package dev.gyre.http;

import java.nio.charset.StandardCharsets;

/// What a server answered to a client. Immutable, for any thread.
///
/// @param status the status, as 200
/// @param reason what stands beside it, as `OK`; often empty
/// @param headers the header fields
/// @param content all of the content, with chunks put together
/// @param trailers the trailer fields
public record HttpAnswer(
        int status, String reason, Headers headers, byte[] content, Headers trailers) {
    /// The content as text in UTF-8.
    public String text() {
        return new String(content, StandardCharsets.UTF_8);
    }
}
