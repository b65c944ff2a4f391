package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.WebSocket;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// How a socket is closed: RFC 6455, section 7.
///
/// ```
///           begin                      the peer's close frame
///   OPEN ──────────▶ CLOSING ──────────────────────────────────▶ CLOSED (the peer's code)
///    │ │                └── closeTimeout, end of the stream ───▶ CLOSED (1006)
///    │ └── the peer's close frame, which is answered ───────────▶ CLOSED (the peer's code)
///    ├──── fail: a violation, a callback that throws ───────────▶ CLOSED (what the peer is told)
///    └──── the stream ends ─────────────────────────────────────▶ CLOSED (1006)
/// ```
///
/// With both close frames exchanged the server closes the stream, and the client waits for that: the side that
/// closes first is the one whose port stays in use for a while. Who fails does not wait.
///
/// Loop thread only.
final class Closing {
    private static final int MOST_REASON_BYTES = FrameHeader.MOST_OF_CONTROL - 2;
    private static final byte[] NO_REASON = {};

    private enum Phase {
        OPEN,
        CLOSING,
        CLOSED
    }

    private final Stream stream;
    private final FrameWriter frames;
    private final SocketTimes times;
    private final boolean server;
    private final Runnable left;

    // Loop thread only.
    private Phase phase = Phase.OPEN;
    private int code = CloseCode.LOST;
    private String reason = "";
    private boolean told;

    /// Who is told, in order. Made when first wanted.
    private @Nullable List<WebSocket.Closed> callbacks;

    /// @param left called once, when the socket stops being open
    Closing(Stream stream, FrameWriter frames, SocketTimes times, boolean server, Runnable left) {
        this.stream = stream;
        this.frames = frames;
        this.times = times;
        this.server = server;
        this.left = left;
    }

    boolean isOpen() {
        return phase == Phase.OPEN;
    }

    /// Whether nothing more is expected of the peer.
    boolean isOver() {
        return phase == Phase.CLOSED;
    }

    void onClose(WebSocket.Closed callback) {
        if (told) {
            stream.loop().microtask(() -> tell(callback));
            return;
        }
        if (callbacks == null) {
            callbacks = new ArrayList<>(1);
        }
        callbacks.add(callback);
    }

    /// Whoever asks for it may be wrong about the code: checked here, before anything is sent.
    void begin(int code, String reason) {
        if (!CloseCode.isAllowed(code)) {
            throw new IllegalArgumentException(
                    "a socket is closed with 1000 to 1003, 1007 to 1014 or 3000 to 4999, not "
                            + code);
        }
        byte[] bytes = reason.getBytes(UTF_8);
        if (bytes.length > MOST_REASON_BYTES) {
            throw new IllegalArgumentException(
                    "a reason has at most "
                            + MOST_REASON_BYTES
                            + " bytes in UTF-8, not "
                            + bytes.length);
        }
        if (phase != Phase.OPEN) {
            return;
        }
        if (!frames.mayWrite()) {
            lost(Loss.of(stream));
            return;
        }
        phase = Phase.CLOSING;
        frames.close(code, bytes);
        times.closing();
        left.run();
    }

    /// The peer's close frame.
    ///
    /// @return what is wrong with it; null for nothing
    @Nullable Violation heard(byte[] content, int length, Utf8Check check) {
        if (length == 0) {
            answered(CloseCode.NONE, "");
            return null;
        }
        if (length == 1) {
            return Violation.CLOSE_OF_ONE_BYTE;
        }
        int told = (content[0] & 0xff) << 8 | (content[1] & 0xff);
        if (!CloseCode.isAllowed(told)) {
            return Violation.CLOSE_CODE;
        }
        check.reset();
        if (!check.accept(content, 2, length - 2) || !check.isWhole()) {
            return Violation.NOT_UTF8;
        }
        answered(told, new String(content, 2, length - 2, UTF_8));
        return null;
    }

    private void answered(int told, String why) {
        if (phase == Phase.OPEN && frames.mayWrite()) {
            frames.close(told, NO_REASON);
        }
        finish(told, why);
        if (server) {
            stream.close();
        } else {
            times.closing();
        }
    }

    /// Ends it for something that the peer, or somebody here, did wrong.
    void fail(int code, String words) {
        fail(code, words, CloseReason.CLOSED);
    }

    /// @param cause of the end of the stream: CLOSED, or a timeout
    void fail(int code, String words, CloseReason cause) {
        if (phase == Phase.OPEN && frames.mayWrite()) {
            frames.close(code, words.getBytes(UTF_8));
        }
        finish(code, words);
        stream.close(cause);
    }

    /// The stream has ended.
    ///
    /// @param why for who is told on this side
    void lost(String why) {
        lost(why, CloseReason.CLOSED);
    }

    /// Called when the stream has ended, or a timeout expired: for the close frame, a pong, or
    /// closing the stream.
    ///
    /// @param cause of the end of the stream: CLOSED, or a timeout
    void lost(String why, CloseReason cause) {
        finish(CloseCode.LOST, why);
        stream.close(cause);
    }

    /// The stream is closed, which is told outside every call of the user's.
    void streamClosed() {
        if (phase != Phase.CLOSED) {
            record(CloseCode.LOST, Loss.of(stream));
        }
        tellFirst();
    }

    private void finish(int code, String reason) {
        if (phase != Phase.CLOSED) {
            record(code, reason);
            // Never inside a call of the user's.
            stream.loop().microtask(this::tellFirst);
        }
    }

    private void record(int code, String reason) {
        boolean wasOpen = phase == Phase.OPEN;
        phase = Phase.CLOSED;
        this.code = code;
        this.reason = reason;
        if (wasOpen) {
            left.run();
        }
    }

    private void tellFirst() {
        if (!told) {
            told = true;
            List<WebSocket.Closed> all = callbacks;
            callbacks = null;
            if (all != null) {
                all.forEach(this::tell);
            }
        }
    }

    private void tell(WebSocket.Closed callback) {
        try {
            callback.closed(code, reason);
        } catch (RuntimeException | Error e) {
            Callbacks.report(stream.loop(), e); // The others are told all the same.
        }
    }
}
