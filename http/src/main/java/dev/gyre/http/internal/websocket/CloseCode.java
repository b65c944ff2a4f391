package dev.gyre.http.internal.websocket;

/// The codes of RFC 6455, section 7.4, as far as they are used here, and which of them may be on the wire.
final class CloseCode {
    static final int NORMAL = 1000;
    static final int PROTOCOL_ERROR = 1002;

    /// Stands for a close frame without a code; never on the wire.
    static final int NONE = 1005;

    /// Stands for a connection that was lost; never on the wire.
    static final int LOST = 1006;

    static final int INVALID_DATA = 1007;
    static final int POLICY = 1008;
    static final int TOO_BIG = 1009;
    static final int FAILED_HERE = 1011;
    static final int TRY_LATER = 1013;

    private CloseCode() {}

    /// Whether a close frame may carry it: those that are registered and meant for the wire, those of libraries, and
    /// private ones.
    static boolean isAllowed(int code) {
        return (code >= 1000 && code <= 1003)
                || (code >= 1007 && code <= 1014)
                || (code >= 3000 && code <= 4999);
    }
}
