package dev.gyre.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Objects;

/// What a server answered to a client. Immutable, for any thread.
public final class HttpAnswer {
    private final int status;
    private final String reason;
    private final Headers headers;
    private final byte[] content;
    private final Headers trailers;

    /// An answer, as a test may want to make one.
    ///
    /// @param content not to be changed afterwards
    public HttpAnswer(
            int status, String reason, Headers headers, byte[] content, Headers trailers) {
        this.status = status;
        this.reason = Objects.requireNonNull(reason, "reason");
        this.headers = Objects.requireNonNull(headers, "headers");
        this.content = Objects.requireNonNull(content, "content");
        this.trailers = Objects.requireNonNull(trailers, "trailers");
    }

    /// The status, as 200. From 600 on it means nothing that is known: it is to be treated as one of 5xx (RFC 9110, 15).
    public int status() {
        return status;
    }

    /// What stands beside the status, as `OK`; often empty.
    public String reason() {
        return reason;
    }

    /// The header fields.
    public Headers headers() {
        return headers;
    }

    /// All of the content, with chunks put together: a copy.
    public byte[] content() {
        return content.clone();
    }

    /// The content as text in UTF-8.
    public String text() {
        return new String(content, UTF_8);
    }

    /// The trailer fields.
    public Headers trailers() {
        return trailers;
    }

    @Override
    public String toString() {
        return status + " " + reason + ", " + content.length + " bytes";
    }
}
