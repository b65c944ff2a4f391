package dev.gyre.http.internal.server;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// Who reads the content of a request, of whom there is at most one: a handler by callbacks, or what collects it or
/// makes a stream of it, whose callbacks are its own.
///
/// Loop thread only.
final class ContentReader {
    /// Whether it is collected, or read as a stream.
    private boolean claimed;

    private boolean begun;
    private @Nullable Consumer<? super Buffer> onData;
    private @Nullable Runnable onEnd;
    private @Nullable Consumer<? super Throwable> onFailure;

    // ------------------------------------------------------------------ setting

    /// Somebody begins to read.
    ///
    /// @throws IllegalStateException if somebody does already
    void begin() {
        if (begun) {
            throw new IllegalStateException("somebody reads the content already");
        }
        begun = true;
    }

    /// One that has its own callbacks begins to read.
    ///
    /// @throws IllegalStateException if somebody does already, or has set callbacks
    void claim(Runnable end, Consumer<? super Throwable> failed) {
        if (!begun && (onEnd != null || onFailure != null)) {
            throw new IllegalStateException(
                    "the content has callbacks: they are for onData, and what collects it or reads"
                            + " it as a stream has its own");
        }
        begin();
        claimed = true;
        onEnd = end;
        onFailure = failed;
    }

    void data(Consumer<? super Buffer> callback) {
        onData = callback;
    }

    /// Sets who is told of the end.
    ///
    /// @throws IllegalStateException if it is collected, or read as a stream
    void end(Runnable callback) {
        requireUnclaimed();
        onEnd = callback;
    }

    /// Sets who is told that it will not be whole.
    ///
    /// @throws IllegalStateException if it is collected, or read as a stream
    void failure(Consumer<? super Throwable> callback) {
        requireUnclaimed();
        onFailure = callback;
    }

    private void requireUnclaimed() {
        if (claimed) {
            throw new IllegalStateException(
                    "the content is collected or read as a stream, and that tells of its end and of"
                            + " failures: callbacks are for onData");
        }
    }

    // ------------------------------------------------------------------ telling

    /// Whether it wants to have what arrives.
    boolean isThere() {
        return onData != null;
    }

    /// Whether it does something about content that is not whole.
    boolean hearsFailure() {
        return onFailure != null;
    }

    /// Gives it what has arrived.
    ///
    /// @return what it throws; null if it returns
    @Nullable Throwable hand(Buffer data) {
        Consumer<? super Buffer> known = onData;
        assert known != null : "nobody wants it";
        return UserCallbacks.thrownBy(known, data);
    }

    void tellEnd(Outcome outcome) {
        Runnable known = onEnd;
        if (known != null) {
            outcome.goOn(known);
        }
    }

    /// What is answered is the reason, whatever comes of telling it.
    void tellFailure(Throwable reason) {
        Consumer<? super Throwable> known = onFailure;
        if (known != null) {
            UserCallbacks.tell(known, reason);
        }
    }

    /// It hears nothing more.
    void leave() {
        onData = null;
        onEnd = null;
        onFailure = null;
    }
}
