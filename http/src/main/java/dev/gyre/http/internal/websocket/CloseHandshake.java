package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocket;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// Closes a socket: RFC 6455, section 7.
///
/// ```
///           begin                    close frame of the peer
///   OPEN ──────────▶ CLOSING ──────────────────────────────────▶ CLOSED (code of the peer)
///    │ │                └── closeTimeout, end of the stream ───▶ CLOSED (1006)
///    │ └── close frame of the peer, which is returned ──────────▶ CLOSED (code of the peer)
///    ├──── fail: a violation, a callback that throws ───────────▶ CLOSED (code sent to the peer)
///    └──── the stream ends ─────────────────────────────────────▶ CLOSED (1006)
/// ```
///
/// After both close frames the server closes the stream, and the client waits for that. The side
/// that closes first keeps its port in use for a while. After a failure neither waits.
///
/// Loop thread only.
final class CloseHandshake {
    // Codes of section 7.4.
    static final int PROTOCOL_ERROR = 1002;
    static final int INVALID_PAYLOAD = 1007;
    static final int POLICY_VIOLATION = 1008;
    static final int TOO_BIG = 1009;
    static final int INTERNAL_ERROR = 1011;
    static final int TRY_AGAIN_LATER = 1013;

    /// Represents a close frame without a code. Never sent.
    static final int NO_CODE = 1005;

    /// Represents a lost connection. Never sent.
    private static final int CONNECTION_LOST = 1006;

    private static final int MAX_REASON_BYTES = FrameHeader.MAX_CONTROL_BYTES - 2;
    private static final byte[] NO_REASON = {};

    private enum State {
        OPEN,
        CLOSING,
        CLOSED
    }

    private final Stream stream;
    private final FrameWriter frames;
    private final boolean server;
    private final boolean hasWriteTimeout;
    private final LoopWebSocket socket;

    // Loop thread only.
    private State state = State.OPEN;
    private int code = CONNECTION_LOST;
    private String reason = "";
    private boolean notified;

    /// The close frame that waits for earlier messages.
    private byte @Nullable [] waitingReason;

    private int waitingCode;

    private List<WebSocket.Closed> callbacks = new ArrayList<>(0);

    /// @param hasWriteTimeout whether a timeout of the stream covers messages that wait
    CloseHandshake(
            LoopWebSocket socket,
            Stream stream,
            FrameWriter frames,
            boolean server,
            boolean hasWriteTimeout) {
        this.socket = socket;
        this.stream = stream;
        this.frames = frames;
        this.server = server;
        this.hasWriteTimeout = hasWriteTimeout;
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    void onClose(WebSocket.Closed callback) {
        if (notified) {
            stream.loop().microtask(() -> call(callback));
        } else {
            callbacks.add(callback);
        }
    }

    /// Returns whether a close frame may contain the code: registered codes that may be sent, codes
    /// of libraries, and private ones.
    private static boolean isValid(int code) {
        return (code >= 1000 && code <= 1003)
                || (code >= 1007 && code <= 1014)
                || (code >= 3000 && code <= 4999);
    }

    // ------------------------------------------------------------------ by this side

    /// Sends a close frame and waits for the peer's.
    ///
    /// @param waits whether the close frame waits for [#sendWaiting()]
    void begin(int code, String reason, boolean waits) {
        if (!isValid(code)) {
            throw new IllegalArgumentException(
                    "a close code must be 1000 to 1003, 1007 to 1014 or 3000 to 4999, not " + code);
        }
        byte[] bytes = reason.getBytes(UTF_8);
        if (bytes.length > MAX_REASON_BYTES) {
            throw new IllegalArgumentException(
                    "a close reason has at most "
                            + MAX_REASON_BYTES
                            + " bytes in UTF-8, not "
                            + bytes.length);
        }
        if (state != State.OPEN) {
            return;
        }
        if (!frames.canWrite()) {
            lost(describe(stream), CloseReason.CLOSED);
            return;
        }
        state = State.CLOSING;
        waitingCode = code;
        waitingReason = bytes;
        if (!waits) {
            sendWaiting();
        } else if (!hasWriteTimeout) {
            socket.timeouts.closing();
        }
        socket.leave();
    }

    /// Returns whether pings are answered: until the close frame is sent.
    boolean mayPong() {
        return state == State.OPEN || (state == State.CLOSING && waitingReason != null);
    }

    /// Sends the close frame of [#begin] once all earlier messages are written.
    void sendWaiting() {
        byte[] bytes = waitingReason;
        if (bytes != null && frames.canWrite()) {
            waitingReason = null;
            frames.close(waitingCode, bytes);
            socket.timeouts.closing();
        }
    }

    /// Closes the socket for a violation of the peer or a failure on this side.
    void fail(int code, String reason) {
        fail(code, reason, CloseReason.CLOSED);
    }

    /// @param cause of the end of the stream: CLOSED, or a timeout
    void fail(int code, String reason, CloseReason cause) {
        sendUnlessSent(code, reason.getBytes(UTF_8));
        finish(code, reason);
        stream.close(cause);
    }

    private void sendUnlessSent(int code, byte[] reason) {
        if ((state == State.OPEN || waitingReason != null) && frames.canWrite()) {
            waitingReason = null;
            frames.close(code, reason);
        }
    }

    // ------------------------------------------------------------------ by the peer

    /// Receives the peer's close frame.
    ///
    /// @return the error in it; null if absent
    @Nullable ProtocolError receive(byte[] payload, int length, Utf8Validator validator) {
        if (length == 0) {
            reply(NO_CODE, "");
            return null;
        }
        if (length == 1) {
            return ProtocolError.CLOSE_OF_ONE_BYTE;
        }
        int received = (payload[0] & 0xff) << 8 | (payload[1] & 0xff);
        if (!isValid(received)) {
            return ProtocolError.CLOSE_CODE;
        }
        validator.reset();
        if (!validator.accept(payload, 2, length - 2) || !validator.isComplete()) {
            return ProtocolError.NOT_UTF8;
        }
        reply(received, new String(payload, 2, length - 2, UTF_8));
        return null;
    }

    private void reply(int received, String reason) {
        sendUnlessSent(received, NO_REASON);
        finish(received, reason);
        if (server) {
            stream.close();
        } else {
            socket.timeouts.closing();
        }
    }

    // ------------------------------------------------------------------ by the connection

    /// Closes the socket because the connection is lost.
    ///
    /// @param reason for the user of this side
    /// @param cause of the end of the stream: CLOSED, or a timeout
    void lost(String reason, CloseReason cause) {
        finish(CONNECTION_LOST, reason);
        stream.close(cause);
    }

    /// Completes after the stream was closed. Called outside all callbacks of the user.
    void streamClosed() {
        if (state != State.CLOSED) {
            record(CONNECTION_LOST, describe(stream));
        }
        callAll();
    }

    private static String describe(Stream stream) {
        CloseReason reason = stream.closeReason();
        if (reason == null) {
            return "the loop is terminating";
        }
        Throwable failure = stream.failure();
        // The failure of a reset has an error number only.
        String cause = failure == null || reason == CloseReason.RESET ? null : failure.getMessage();
        return "the connection was closed without a close frame: "
                + reason
                + (cause == null ? "" : ", " + cause);
    }

    // ------------------------------------------------------------------ outcome

    private void finish(int code, String reason) {
        if (state != State.CLOSED) {
            record(code, reason);
            // Not inside a call of the user.
            stream.loop().microtask(this::callAll);
        }
    }

    private void record(int code, String reason) {
        boolean wasOpen = state == State.OPEN;
        state = State.CLOSED;
        this.code = code;
        this.reason = reason;
        socket.sender.discard();
        if (wasOpen) {
            socket.leave();
        }
    }

    private void callAll() {
        List<WebSocket.Closed> all = callbacks;
        callbacks = List.of();
        notified = true;
        all.forEach(this::call);
    }

    private void call(WebSocket.Closed callback) {
        try {
            callback.closed(code, reason);
        } catch (RuntimeException | Error e) {
            SocketCallbacks.report(stream.loop(), e); // The other callbacks run all the same.
        }
    }
}
