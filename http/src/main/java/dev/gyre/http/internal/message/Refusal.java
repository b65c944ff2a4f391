package dev.gyre.http.internal.message;

/// Why a message is refused: one constant a cause, with the status to answer and a line for whoever sent it.
///
/// Where the next message begins is unknown after any of them, so the connection is closed.
public enum Refusal {
    BARE_CR(400, "there is a CR without a LF after it: lines end with CRLF"),
    BARE_LF(400, "there is a LF without a CR before it: lines end with CRLF"),

    BAD_METHOD(400, "the first line does not begin with a method and one space"),
    METHOD_TOO_LONG(501, "the method has more than 32 bytes: nobody knows such a one"),
    BAD_TARGET(400, "the target is empty or has a byte that has to be percent-encoded there"),
    BAD_ESCAPE(400, "a percent sign in the target is not followed by two hex digits"),
    BAD_TARGET_FORM(
            400, "the target is neither a path nor an http address, or not what the method takes"),
    TARGET_TOO_LONG(414, "the target is longer than this server takes"),
    BAD_VERSION(400, "where the version belongs there is no HTTP/1.1, with one space beside it"),
    OTHER_VERSION(505, "this is spoken here: HTTP/1.1 and HTTP/1.0"),
    BAD_STATUS(502, "the status is not a number from 100 to 999 between single spaces"),

    HEAD_TOO_SLOW(408, "the head of the request comes too slowly"),
    NO_MEMORY(503, "there is no memory to keep what is sent until it can be used"),
    HEAD_TOO_LARGE(431, "the head of the message is larger than is taken here"),
    TOO_MANY_FIELDS(431, "there are more fields than are taken here"),
    SPACE_BEFORE_FIELDS(400, "there is white space between the first line and the first field"),
    FOLDED_FIELD(400, "a field goes on in a second line: folding is not taken"),
    SPACE_AFTER_NAME(400, "there is white space between the name of a field and its colon"),
    EMPTY_NAME(400, "a field has no name before its colon"),
    BAD_NAME(400, "the name of a field has a byte that no name has"),
    MISSING_COLON(400, "a line among the fields has no colon"),
    CONTROL_BYTE(400, "there is a control byte in a line"),

    HOST_MISSING(400, "there is no Host field: HTTP/1.1 requires one"),
    HOST_TWICE(400, "there is more than one Host field"),
    BAD_HOST(400, "the Host field is not a name or address with or without a port"),
    MISDIRECTED(421, "the target is an https address, and this connection has no TLS"),
    UNKNOWN_EXPECTATION(417, "the only thing to expect is 100-continue"),

    BAD_LENGTH(400, "Content-Length is not a number of 1 to 18 digits"),
    LENGTH_TWICE(400, "there is more than one Content-Length field"),
    LENGTH_WITH_ENCODING(400, "there are both Content-Length and Transfer-Encoding"),
    ENCODING_BY_HTTP10(400, "there is Transfer-Encoding, which HTTP/1.0 does not have"),
    BAD_ENCODING(400, "Transfer-Encoding is not a list of names"),
    CHUNKED_TWICE(400, "Transfer-Encoding lists chunked twice"),
    CHUNKED_NOT_LAST(400, "Transfer-Encoding does not end with chunked"),
    UNKNOWN_ENCODING(501, "Transfer-Encoding has a coding that is not known here: only chunked is"),
    CONTENT_TOO_LARGE(413, "the content is larger than is taken here"),

    BAD_CHUNK_SIZE(400, "the size of a chunk is not a number of hex digits alone"),
    CHUNK_TOO_LARGE(413, "the size of a chunk has more than 15 hex digits"),
    BAD_CHUNK_EXTENSION(
            400, "the extension of a chunk is not ;name, ;name=value or ;name=\"value\""),
    CHUNK_LINE_TOO_LONG(400, "the line with the size of a chunk has more than 256 bytes"),
    TOO_MANY_EXTENSIONS(400, "all extensions of chunks together have more than 16 KiB"),
    BAD_CHUNK_END(400, "the data of a chunk does not end with CRLF where its size says"),
    FORBIDDEN_TRAILER(400, "a trailer field is one that belongs into the header"),
    TRAILER_TOO_LARGE(431, "the trailer fields are larger than is taken here");

    private static final Refusal[] ALL = values();

    private final int status;
    private final String reason;

    Refusal(int status, String reason) {
        this.status = status;
        this.reason = reason;
    }

    /// The status that a server answers with. Of those that only a client meets, 502.
    public int status() {
        return status;
    }

    /// One line, without a full stop, that tells a person what is wrong.
    public String reason() {
        return reason;
    }

    /// As a negative number, so that one `int` says where a scan ended, that there is more to come (0), or why not.
    @SuppressWarnings("EnumOrdinal") // It is never stored.
    int code() {
        return ~ordinal();
    }

    static Refusal of(int code) {
        return ALL[~code];
    }
}
