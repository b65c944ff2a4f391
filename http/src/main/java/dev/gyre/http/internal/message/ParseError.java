package dev.gyre.http.internal.message;

import org.jspecify.annotations.Nullable;

/// Why a message is rejected, with the status of the response and a message for the client.
///
/// The start of the next message is unknown after any of them, so the connection is closed.
public enum ParseError {
    BARE_CR(400, "a CR is not followed by LF: lines end with CRLF"),
    BARE_LF(400, "a LF does not follow a CR: lines end with CRLF"),

    BAD_METHOD(400, "the request line does not start with a method and one space"),
    METHOD_TOO_LONG(501, "the method has more than 32 bytes and is unknown"),
    BAD_TARGET(400, "the target is empty or has a byte that must be percent-encoded"),
    BAD_ESCAPE(400, "a percent sign in the target is not followed by two hex digits"),
    BAD_TARGET_FORM(
            400, "the target is neither a path nor an http URI, or the method does not allow it"),
    TARGET_TOO_LONG(414, "the target is longer than the server's limit"),
    BAD_VERSION(400, "the version is not HTTP/1.1, or not separated by one space"),
    OTHER_VERSION(505, "the version is not supported: use HTTP/1.1 or HTTP/1.0"),
    BAD_STATUS(502, "the status is not a number from 100 to 999 between single spaces"),

    HEAD_TOO_SLOW(408, "the head of the request was not complete in time"),
    NO_MEMORY(503, "there is no memory for more requests on this connection: retry later"),
    HEAD_TOO_LARGE(431, "the head is larger than the receiver's limit"),
    TOO_MANY_HEADERS(431, "there are more headers than the receiver's limit"),
    SPACE_BEFORE_HEADERS(400, "there is white space before the first header"),
    FOLDED_HEADER(400, "a header continues on a second line: folding is not supported"),
    SPACE_AFTER_NAME(400, "there is white space between a header's name and its colon"),
    EMPTY_NAME(400, "a header has no name"),
    BAD_NAME(400, "a header's name has an invalid byte"),
    MISSING_COLON(400, "a header has no colon"),
    CONTROL_BYTE(400, "a line has a control byte"),

    HOST_MISSING(400, "the Host header is missing: HTTP/1.1 requires it"),
    HOST_TWICE(400, "there is more than one Host header"),
    BAD_HOST(400, "the Host header is not a name or address with an optional port"),
    MISDIRECTED(421, "the target is an https URI, and this connection has no TLS"),
    UNKNOWN_EXPECTATION(417, "Expect supports only 100-continue"),

    BAD_LENGTH(400, "Content-Length is not a number of 1 to 18 digits"),
    LENGTH_TWICE(400, "there is more than one Content-Length header"),
    LENGTH_WITH_ENCODING(400, "the message has both Content-Length and Transfer-Encoding"),
    ENCODING_BY_HTTP10(400, "HTTP/1.0 does not support Transfer-Encoding"),
    BAD_ENCODING(400, "Transfer-Encoding is not a list of names"),
    CHUNKED_TWICE(400, "Transfer-Encoding lists chunked twice"),
    CHUNKED_NOT_LAST(400, "Transfer-Encoding does not end with chunked"),
    UNKNOWN_ENCODING(501, "Transfer-Encoding has an unknown coding: only chunked is supported"),
    CONTENT_TOO_LARGE(413, "the body is larger than the limit"),

    BAD_CHUNK_SIZE(400, "the size of a chunk is not a hexadecimal number"),
    CHUNK_TOO_LARGE(413, "the size of a chunk has more than 15 hex digits"),
    BAD_CHUNK_EXTENSION(
            400, "the extension of a chunk is not ;name, ;name=value or ;name=\"value\""),
    CHUNK_LINE_TOO_LONG(400, "the size line of a chunk has more than 256 bytes"),
    TOO_MANY_EXTENSIONS(400, "the chunk extensions have more than 16 KiB in total"),
    BAD_CHUNK_END(400, "the data of a chunk is not followed by CRLF"),
    FORBIDDEN_TRAILER(400, "a trailer has a name that is allowed in the header only"),
    TRAILER_TOO_LARGE(431, "the trailers are larger than the receiver's limit");

    private static final ParseError[] ALL = values();

    private final int status;
    private final String reason;

    ParseError(int status, String reason) {
        this.status = status;
        this.reason = reason;
    }

    /// Returns the status of a server's response; 502 for errors of responses.
    public int status() {
        return status;
    }

    /// Returns a message of one line, without a full stop.
    public String reason() {
        return reason;
    }

    /// Returns a negative number, so that parsers return one `int`: an index, 0 if more is needed,
    /// or this code.
    @SuppressWarnings("EnumOrdinal") // never stored
    int code() {
        return ~ordinal();
    }

    static ParseError of(int code) {
        return ALL[~code];
    }

    static ParseError require(@Nullable ParseError error) {
        if (error == null) {
            throw new IllegalStateException("nothing was rejected: check the result of parsing");
        }
        return error;
    }
}
