package dev.gyre.http.testkit;

import dev.gyre.Promise;
import dev.gyre.http.WebSocket;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// A WebSocket of a [TestClient]. Messages are queued until the test expects them.
///
/// ```java
/// var chat = client.webSocket("/chat").send("hi").expectText("ada: hi");
/// chat.close();
/// chat.expectClosed(1000);
/// ```
///
/// A failure shows the last messages of both sides.
public final class TestWebSocket implements AutoCloseable {
    private static final int MAX_SHOWN_MESSAGES = 20;
    private static final int MAX_SHOWN_CHARS = 200;
    private static final int MAX_SHOWN_BYTES = 64;

    private final LoopDriver driver;
    private final WebSocket socket;
    private final String path;
    private final Signal signal;

    // Loop thread only: strings and byte arrays.
    private final Deque<Object> messages = new ArrayDeque<>();

    // Shared: guarded by itself.
    private final Deque<String> transcript = new ArrayDeque<>();

    // Shared: written by the loop thread, `closed` last.
    private volatile int closeCode;
    private volatile String closeReason = "";
    private volatile boolean closed;

    TestWebSocket(LoopDriver driver, WebSocket socket, String path) {
        this.driver = driver;
        this.socket = socket;
        this.path = path;
        signal = new Signal(driver.loop);
        socket.onText(this::onMessage)
                .onBinary(
                        data -> {
                            byte[] bytes = new byte[data.readable()];
                            data.get(bytes);
                            onMessage(bytes);
                        })
                .onClose(
                        (code, reason) -> {
                            closeCode = code;
                            closeReason = reason;
                            closed = true;
                            log("closed " + code + " " + reason);
                            signal.changed();
                        });
    }

    private void onMessage(Object message) {
        messages.add(message);
        log("← " + show(message));
        signal.changed();
    }

    private void log(String line) {
        synchronized (transcript) {
            transcript.add(line);
            if (transcript.size() > MAX_SHOWN_MESSAGES) {
                transcript.remove();
            }
        }
    }

    // ------------------------------------------------------------------ sending

    /// Sends a text message.
    ///
    /// @return this socket
    public TestWebSocket send(String text) {
        driver.call(
                () -> {
                    log("→ " + show(text));
                    boolean _ = socket.send(text);
                });
        return this;
    }

    /// Sends a binary message.
    ///
    /// @return this socket
    public TestWebSocket send(byte[] bytes) {
        driver.call(
                () -> {
                    log("→ " + show(bytes));
                    boolean _ = socket.send(bytes);
                });
        return this;
    }

    /// Begins the closing handshake with code 1000.
    @Override
    public void close() {
        close(1000, "");
    }

    /// Begins the closing handshake.
    public void close(int code, String reason) {
        driver.call(() -> socket.close(code, reason));
    }

    // ------------------------------------------------------------------ receiving

    /// Waits for the next message and returns it.
    ///
    /// @throws AssertionError if it is binary, or the socket is closed before
    public String nextText() {
        Object message = next();
        if (message instanceof String text) {
            return text;
        }
        throw failure("expected text but was " + show(message));
    }

    /// Waits for the next message and returns it.
    ///
    /// @throws AssertionError if it is text, or the socket is closed before
    public byte[] nextBinary() {
        Object message = next();
        if (message instanceof byte[] bytes) {
            return bytes;
        }
        throw failure("expected a binary message but was " + show(message));
    }

    /// Waits for the next message and expects this text.
    ///
    /// @return this socket
    public TestWebSocket expectText(String text) {
        String actual = nextText();
        if (!actual.equals(text)) {
            throw failure("expected " + show(text) + " but was " + show(actual));
        }
        return this;
    }

    /// Waits for the next message and expects these bytes.
    ///
    /// @return this socket
    public TestWebSocket expectBinary(byte[] bytes) {
        byte[] actual = nextBinary();
        if (!Arrays.equals(actual, bytes)) {
            throw failure("expected " + show(bytes) + " but was " + show(actual));
        }
        return this;
    }

    /// Waits for a time in which no message may arrive.
    ///
    /// @return this socket
    public TestWebSocket expectNoMessage(Duration time) {
        Optional<Object> message;
        try {
            message = driver.await(() -> messageUnless(() -> false), time);
        } catch (LoopDriver.WaitFailedException e) {
            return this;
        }
        throw failure("expected no message but was " + show(message.orElseThrow()));
    }

    /// Waits until the socket is closed.
    ///
    /// @throws AssertionError if a message arrives before
    public void expectClosed() {
        awaitClosed(null);
    }

    /// Waits until the socket is closed with this code. 1006 is a lost connection.
    ///
    /// @throws AssertionError if the code differs, or a message arrives before
    public void expectClosed(int code) {
        awaitClosed(code);
    }

    private void awaitClosed(@Nullable Integer code) {
        Optional<Object> message;
        try {
            message = driver.await(() -> messageUnless(() -> closed));
        } catch (LoopDriver.WaitFailedException e) {
            throw failure("expected the socket to be closed: " + e.getMessage());
        }
        if (message.isPresent()) {
            throw failure("expected the socket to be closed but received " + show(message.get()));
        }
        if (code != null && code != closeCode) {
            throw failure("expected close code " + code + " but was " + closeCode);
        }
    }

    /// Returns a promise for the next message, or for nothing if the condition holds before.
    private Promise<Optional<Object>> messageUnless(BooleanSupplier condition) {
        return signal.until(() -> condition.getAsBoolean() || !messages.isEmpty())
                .then(_ -> Optional.ofNullable(messages.poll()));
    }

    /// Returns whether the socket is not yet closed.
    public boolean isOpen() {
        return !closed;
    }

    /// Returns the code of the closed socket; 0 while it is open.
    public int closeCode() {
        return closeCode;
    }

    /// Returns the reason of the closed socket; empty if absent.
    public String closeReason() {
        return closeReason;
    }

    private Object next() {
        Optional<Object> message;
        try {
            message = driver.await(() -> messageUnless(() -> closed));
        } catch (LoopDriver.WaitFailedException e) {
            throw failure("expected a message: " + e.getMessage());
        }
        return message.orElseThrow(() -> failure("expected a message but the socket was closed"));
    }

    private AssertionError failure(String message) {
        String lines;
        synchronized (transcript) {
            lines = String.join("\n", transcript);
        }
        return driver.failure(message + "\n\nWebSocket " + path + "\n" + lines, null);
    }

    private static String show(Object message) {
        if (message instanceof byte[] bytes) {
            boolean isLong = bytes.length > MAX_SHOWN_BYTES;
            byte[] shown = isLong ? Arrays.copyOf(bytes, MAX_SHOWN_BYTES) : bytes;
            return bytes.length + " bytes " + HexFormat.of().formatHex(shown) + (isLong ? "…" : "");
        }
        String text = message.toString();
        return text.length() <= MAX_SHOWN_CHARS
                ? '"' + text + '"'
                : '"'
                        + text.substring(0, MAX_SHOWN_CHARS)
                        + "\"… ("
                        + text.length()
                        + " characters)";
    }
}
