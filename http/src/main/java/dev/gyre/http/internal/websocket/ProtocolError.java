package dev.gyre.http.internal.websocket;

/// A violation by the peer, or a limit that it exceeds. It closes the socket with the code and the
/// reason.
enum ProtocolError {
    RESERVED_BITS(CloseHandshake.PROTOCOL_ERROR, "a reserved bit is set"),
    UNKNOWN_OPCODE(CloseHandshake.PROTOCOL_ERROR, "unknown opcode"),
    NOT_MASKED(CloseHandshake.PROTOCOL_ERROR, "a client's frame is not masked"),
    MASKED(CloseHandshake.PROTOCOL_ERROR, "a server's frame is masked"),
    CONTROL_FRAGMENTED(CloseHandshake.PROTOCOL_ERROR, "a control frame is fragmented"),
    CONTROL_TOO_LONG(CloseHandshake.PROTOCOL_ERROR, "a control frame exceeds 125 bytes"),
    LENGTH_NOT_MINIMAL(CloseHandshake.PROTOCOL_ERROR, "a length is not encoded minimally"),
    LENGTH_NEGATIVE(CloseHandshake.PROTOCOL_ERROR, "a length exceeds 63 bits"),
    NOTHING_TO_CONTINUE(CloseHandshake.PROTOCOL_ERROR, "a continuation without a message"),
    NOT_CONTINUED(CloseHandshake.PROTOCOL_ERROR, "a new message inside a fragmented one"),
    CLOSE_OF_ONE_BYTE(CloseHandshake.PROTOCOL_ERROR, "a close frame of one byte"),
    CLOSE_CODE(CloseHandshake.PROTOCOL_ERROR, "an invalid close code"),
    NOT_UTF8(CloseHandshake.INVALID_PAYLOAD, "text is not valid UTF-8"),
    NOT_DEFLATE(CloseHandshake.INVALID_PAYLOAD, "compressed data is invalid or incomplete"),
    TOO_MANY_FINAL_BLOCKS(
            CloseHandshake.INVALID_PAYLOAD, "compressed data has too many final blocks"),
    TOO_LONG(CloseHandshake.TOO_BIG, "a message exceeds the maximum length"),
    NO_MEMORY(CloseHandshake.TRY_AGAIN_LATER, "the memory for incomplete messages is used up");

    final int code;
    final String reason;

    ProtocolError(int code, String reason) {
        this.code = code;
        this.reason = reason;
    }
}
