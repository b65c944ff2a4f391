package dev.gyre.http.internal.websocket;

/// What a peer may do that ends its socket: the code it is told, and the words.
enum Violation {
    RESERVED_BITS(CloseCode.PROTOCOL_ERROR, "a reserved bit is set that means nothing here"),
    UNKNOWN_OPCODE(CloseCode.PROTOCOL_ERROR, "an opcode that nobody knows"),
    NOT_MASKED(CloseCode.PROTOCOL_ERROR, "a client's frame without a mask"),
    MASKED(CloseCode.PROTOCOL_ERROR, "a server's frame with a mask"),
    CONTROL_FRAGMENTED(CloseCode.PROTOCOL_ERROR, "a control frame in fragments"),
    CONTROL_TOO_LONG(CloseCode.PROTOCOL_ERROR, "a control frame of more than 125 bytes"),
    LENGTH_NOT_SHORTEST(CloseCode.PROTOCOL_ERROR, "a length in more bytes than it needs"),
    LENGTH_NEGATIVE(CloseCode.PROTOCOL_ERROR, "a length beyond 63 bits"),
    NOTHING_TO_CONTINUE(CloseCode.PROTOCOL_ERROR, "a continuation of no message"),
    NOT_CONTINUED(CloseCode.PROTOCOL_ERROR, "a new message inside another one"),
    CLOSE_OF_ONE_BYTE(CloseCode.PROTOCOL_ERROR, "a close frame with half a code"),
    CLOSE_CODE(CloseCode.PROTOCOL_ERROR, "a close code that may not be sent"),
    NOT_UTF8(CloseCode.INVALID_DATA, "text that is not UTF-8"),
    NOT_DEFLATE(CloseCode.INVALID_DATA, "compressed data that cannot be inflated, or is not whole"),
    TOO_MANY_LAST_BLOCKS(
            CloseCode.INVALID_DATA,
            "compressed data with too many blocks that say they are the last"),
    TOO_LONG(CloseCode.TOO_BIG, "a message longer than is taken here"),
    NO_MEMORY(CloseCode.TRY_LATER, "too much is held of messages that are not whole");

    private final int code;
    private final String words;

    Violation(int code, String words) {
        this.code = code;
        this.words = words;
    }

    int code() {
        return code;
    }

    String words() {
        return words;
    }
}
