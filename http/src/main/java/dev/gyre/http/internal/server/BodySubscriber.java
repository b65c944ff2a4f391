package dev.gyre.http.internal.server;

import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The subscriber of a request body, at most one: a handler by callbacks, or code that collects or
/// streams the body and has its own callbacks.
///
/// Loop thread only. For a whole body, the thread of a blocking handler may claim it.
final class BodySubscriber {
    /// Whether the body is collected or streamed.
    private boolean claimed;

    private boolean begun;
    private @Nullable Consumer<? super Buffer> onData;
    private @Nullable Runnable onEnd;
    private @Nullable Consumer<? super Throwable> onFailure;

    /// @throws IllegalStateException if the body has a subscriber
    void begin() {
        if (begun) {
            throw new IllegalStateException(
                    "the body is read already: call one of bytes, text, json, form, multipart,"
                            + " stream and onData, once");
        }
        begun = true;
    }

    /// Subscribes with its own callbacks.
    ///
    /// @throws IllegalStateException if the body has a subscriber or callbacks
    void claim(Runnable end, Consumer<? super Throwable> failed) {
        if (!begun && (onEnd != null || onFailure != null)) {
            throw new IllegalStateException(
                    "onEnd and onFailure are set, which belong to onData: do not collect or stream"
                            + " the body too");
        }
        begin();
        claimed = true;
        onEnd = end;
        onFailure = failed;
    }

    void data(Consumer<? super Buffer> callback) {
        onData = callback;
    }

    /// @throws IllegalStateException if the body is collected or streamed
    void end(Runnable callback) {
        requireUnclaimed();
        onEnd = callback;
    }

    /// @throws IllegalStateException if the body is collected or streamed
    void failure(Consumer<? super Throwable> callback) {
        requireUnclaimed();
        onFailure = callback;
    }

    private void requireUnclaimed() {
        if (claimed) {
            throw new IllegalStateException(
                    "the body is collected or streamed, which reports its end and failures: set"
                            + " onEnd and onFailure with onData only");
        }
    }

    /// Returns whether it wants the bytes that arrive.
    boolean isSubscribed() {
        return onData != null;
    }

    /// Returns whether the handler has subscribed, or set a callback.
    boolean isBegun() {
        return begun || onEnd != null || onFailure != null;
    }

    /// Returns whether it handles the failure of the body.
    boolean handlesFailure() {
        return onFailure != null;
    }

    /// Passes bytes that have arrived.
    ///
    /// @return the exception of the callback; `null` if it returned
    @Nullable Throwable deliver(Buffer data) {
        Consumer<? super Buffer> known = onData;
        assert known != null : "no subscriber";
        return UserCallbacks.thrownBy(known, data);
    }

    /// Returns the callback for the end; `null` if absent.
    @Nullable Runnable onEnd() {
        return onEnd;
    }

    /// Reports a failure. An exception of the callback does not change the response.
    void notifyFailure(Throwable reason, Exchange exchange) {
        Consumer<? super Throwable> known = onFailure;
        if (known != null) {
            UserCallbacks.run(known, reason, exchange);
        }
    }

    /// Removes the callbacks.
    void unsubscribe() {
        onData = null;
        onEnd = null;
        onFailure = null;
    }
}
