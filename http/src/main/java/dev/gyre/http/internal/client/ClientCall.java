package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.HttpAnswer;
import dev.gyre.http.HttpCall;
import dev.gyre.http.RequestStream;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// A request from when it is written down to when it is answered.
///
/// Loop thread only.
final class ClientCall implements HttpCall {
    private static final byte[] NOTHING = {};

    private final LoopClient client;
    private final Question question;
    private Duration timeout;
    private Duration stallTimeout;
    private @Nullable Consumer<? super HttpAnswer> onHead;
    private @Nullable Consumer<? super Buffer> onData;

    private Cancellation wanted = Cancellation.none();

    private byte[] content = NOTHING;
    private @Nullable Upload upload;
    private boolean tellingHead;
    private boolean paused;
    private @Nullable Deferred<HttpAnswer> outcome;
    private @Nullable Timer patience;
    private @Nullable ClientConnection carrier;
    private boolean retried;

    ClientCall(LoopClient client, Question question) {
        this.client = client;
        this.question = question;
        timeout = client.config().timeout();
        stallTimeout = client.config().stallTimeout();
    }

    // ------------------------------------------------------------------ writing it down

    @Override
    public HttpCall header(String name, String value) {
        requireUnsent("header");
        question.set(name, value);
        return this;
    }

    @Override
    public HttpCall addHeader(String name, String value) {
        requireUnsent("addHeader");
        question.add(name, value);
        return this;
    }

    @Override
    public HttpCall target(String target) {
        requireUnsent("target");
        question.target(target);
        return this;
    }

    @Override
    public HttpCall cancelOn(Cancellation cancellation) {
        requireUnsent("cancelOn");
        wanted = Objects.requireNonNull(cancellation, "cancellation");
        return this;
    }

    @Override
    public HttpCall timeout(Duration timeout) {
        requireUnsent("timeout");
        this.timeout = client.config().withTimeout(timeout).timeout();
        return this;
    }

    @Override
    public HttpCall stallTimeout(Duration timeout) {
        requireUnsent("stallTimeout");
        stallTimeout = client.config().withStallTimeout(timeout).stallTimeout();
        return this;
    }

    @Override
    public HttpCall onHead(Consumer<? super HttpAnswer> callback) {
        requireUnsent("onHead");
        onHead = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public HttpCall onData(Consumer<? super Buffer> callback) {
        if (tellingHead) {
            client.requireConfined("HttpCall.onData");
        } else {
            requireUnsent("onData");
        }
        onData = Objects.requireNonNull(callback, "callback");
        return this;
    }

    private void requireUnsent(String what) {
        client.requireConfined("HttpCall." + what);
        if (outcome != null) {
            throw new IllegalStateException(this + " was sent already");
        }
    }

    void requireConfined(String what) {
        client.requireConfined(what);
    }

    // ------------------------------------------------------------------ sending it

    @Override
    public Promise<HttpAnswer> send() {
        return send(NOTHING);
    }

    @Override
    public Promise<HttpAnswer> send(String text) {
        return send(text.getBytes(UTF_8));
    }

    @Override
    public Promise<HttpAnswer> send(byte[] content) {
        requireUnsent("send");
        this.content = Objects.requireNonNull(content, "content");
        return dispatch(null);
    }

    @Override
    public RequestStream stream() {
        requireUnsent("stream");
        return streamed(-1);
    }

    @Override
    public RequestStream stream(long length) {
        requireUnsent("stream");
        if (length < 0) {
            throw new IllegalArgumentException(
                    "a length is never negative, and stream() is for one that is unknown: "
                            + length);
        }
        return streamed(length);
    }

    private RequestStream streamed(long length) {
        Upload made = new Upload(this, length);
        made.answeredBy(dispatch(made));
        return made;
    }

    private Promise<HttpAnswer> dispatch(@Nullable Upload streamed) {
        Deferred<HttpAnswer> made = client.loop().deferred();
        CancelledException unwanted = wanted.reason();
        if (unwanted == null && !timeout.isZero()) {
            patience = client.loop().after(timeout, _ -> tooLate());
        }
        outcome = made;
        upload = streamed;
        if (unwanted != null) {
            reject(unwanted);
            return made.promise();
        }
        client.take(this);
        return wanted.equals(Cancellation.none()) ? made.promise() : untilCancelled(made.promise());
    }

    private Promise<HttpAnswer> untilCancelled(Promise<HttpAnswer> answer) {
        Promise<HttpAnswer> awaited = answer.cancelOn(wanted);
        Promise<?> _ =
                awaited.then(
                        _ -> true,
                        why -> {
                            giveUp(why); // Nothing is left of it unless it was cancelled.
                            return false;
                        });
        return awaited;
    }

    byte[] head() {
        return question.head(upload == null ? question.framing(content.length) : upload.framing());
    }

    byte[] content() {
        return content;
    }

    /// What is sent bit by bit; null if all of the content is there, or there is none.
    @Nullable Upload upload() {
        return upload;
    }

    /// How many bytes may wait to be sent.
    long mostWaiting() {
        return client.streams(origin()).outputLimit();
    }

    void carriedBy(ClientConnection connection) {
        carrier = connection;
    }

    /// Waits for another connection.
    void carriedByNobody() {
        carrier = null;
    }

    /// Whether it may be sent again, which it may once, if what was sent is still there.
    boolean tryAgain() {
        boolean may = isPending() && !retried && upload == null && question.isIdempotent();
        retried = true;
        carrier = null;
        return may;
    }

    private void tooLate() {
        ClientConnection by = carrier;
        String where =
                by == null ? "no connection to " + origin() : "no complete answer of " + origin();
        giveUp(new SocketTimeoutException(where + " within " + timeout + unended()));
    }

    /// Nothing has moved for its time.
    ///
    /// @param unsent how many bytes of the request the peer has not taken
    void stalled(long unsent) {
        String what =
                unsent > 0
                        ? origin() + " has taken nothing of the request"
                        : "nothing has come of the answer of " + origin();
        giveUp(
                new SocketTimeoutException(
                        what + " for " + stallTimeout + " (HttpCall.stallTimeout)" + unended()));
    }

    private String unended() {
        return upload == null || upload.isEnded()
                ? ""
                : "; the content of the request was not ended: that is by RequestStream.end()";
    }

    /// Nobody waits for it any more: if it is on its way, its connection is of no more use.
    void giveUp(Throwable why) {
        ClientConnection by = carrier;
        if (reject(why)) {
            if (by == null) {
                client.forget(this);
            } else {
                by.abandon();
            }
        }
    }

    // ------------------------------------------------------------------ being answered

    boolean isPending() {
        return outcome != null && !outcome.promise().isSettled();
    }

    Origin origin() {
        return question.origin();
    }

    String method() {
        return question.method();
    }

    /// Whether the connection is not to be used after it.
    boolean isLast() {
        return question.isLast();
    }

    /// Whether content is put together, as nobody takes it bit by bit.
    boolean collects() {
        return onData == null;
    }

    /// Whether somebody wants to know of its head.
    boolean isHeadWanted() {
        return onHead != null;
    }

    void deliverHead(HttpAnswer head) {
        Consumer<? super HttpAnswer> callback = onHead;
        if (callback != null && isPending()) {
            tellingHead = true;
            try {
                callback.accept(head);
            } finally {
                tellingHead = false;
            }
        }
    }

    void deliver(Buffer part) {
        Consumer<? super Buffer> callback = onData;
        if (callback != null && isPending()) {
            callback.accept(part);
        }
    }

    void resolve(HttpAnswer answer) {
        if (outcome != null && outcome.resolve(answer)) {
            done();
        }
    }

    /// Ends it without an answer.
    ///
    /// @return whether it was pending
    boolean reject(Throwable why) {
        if (outcome == null || !outcome.reject(why)) {
            return false;
        }
        done();
        return true;
    }

    private void done() {
        if (patience != null) {
            patience.cancel();
        }
        if (upload != null) {
            upload.close();
        }
        carrier = null;
        client.done(this);
    }

    // ------------------------------------------------------------------ pace

    @Override
    public void pause() {
        client.requireConfined("HttpCall.pause");
        pace(true);
    }

    @Override
    public void resume() {
        client.requireConfined("HttpCall.resume");
        pace(false);
    }

    private void pace(boolean stop) {
        ClientConnection by = carrier;
        if (paused != stop) {
            paused = stop;
            if (by != null) {
                by.pace();
            }
        }
    }

    boolean isPaused() {
        return paused;
    }

    Duration stallTimeout() {
        return stallTimeout;
    }

    /// Something of its content was written.
    void written() {
        ClientConnection by = carrier;
        if (by != null) {
            by.written();
        }
    }

    @Override
    public String toString() {
        return question.toString();
    }
}
