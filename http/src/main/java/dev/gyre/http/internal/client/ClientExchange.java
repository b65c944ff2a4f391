package dev.gyre.http.internal.client;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.ClientRequest;
import dev.gyre.http.ClientRequestStream;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.Durations;
import dev.gyre.http.internal.message.RequestHeadBuilder;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// A request and its progress until the response is complete. Redirects are part of the exchange.
///
/// ```
///     built ── send ──▶ pending, without a connection ◀──┬── retry, redirect
///                                │                       │
///                                ▼                       │
///                       carried by a connection ─────────┘
///                                │
///                                └──▶ resolved or rejected
/// ```
///
/// Loop thread only.
final class ClientExchange implements ClientRequest {
    private static final byte[] EMPTY = {};

    final RequestHeadBuilder head;
    private final LoopClient client;

    // Loop thread only: the request.
    private Duration timeout;
    private Duration stallTimeout;
    private final Redirects redirects = new Redirects();
    private Cancellation cancellation = Cancellation.none();
    private @Nullable Consumer<? super ClientResponse> onHead;
    private @Nullable Consumer<? super Buffer> onData;
    private byte[] body = EMPTY;
    private @Nullable RequestBodyWriter bodyWriter;

    // Loop thread only: its progress.
    private @Nullable Deferred<ClientResponse> outcome;
    private @Nullable Timer deadline;
    private @Nullable ClientConnection connection;
    private boolean inOnHead;
    private boolean paused;
    private boolean retried;

    /// The next request, once the current response is complete; null if it is not a redirect.
    private Redirects.@Nullable Next redirect;

    ClientExchange(LoopClient client, RequestHeadBuilder head) {
        this.client = client;
        this.head = head;
        timeout = client.config().timeout();
        stallTimeout = client.config().stallTimeout();
    }

    @Override
    public ClientRequest header(String name, String value) {
        requireUnsent("header");
        head.set(name, value);
        return this;
    }

    @Override
    public ClientRequest addHeader(String name, String value) {
        requireUnsent("addHeader");
        head.add(name, value);
        return this;
    }

    @Override
    public ClientRequest target(String target) {
        requireUnsent("target");
        head.target(target);
        return this;
    }

    @Override
    public ClientRequest cancelOn(Cancellation cancellation) {
        requireUnsent("cancelOn");
        this.cancellation = Objects.requireNonNull(cancellation, "cancellation");
        return this;
    }

    @Override
    public ClientRequest timeout(Duration timeout) {
        requireUnsent("timeout");
        this.timeout = client.config().withTimeout(timeout).timeout();
        return this;
    }

    @Override
    public ClientRequest stallTimeout(Duration timeout) {
        requireUnsent("stallTimeout");
        stallTimeout = client.config().withStallTimeout(timeout).stallTimeout();
        return this;
    }

    @Override
    public ClientRequest followRedirects(int max) {
        requireUnsent("followRedirects");
        redirects.setMax(max);
        return this;
    }

    @Override
    public ClientRequest allowInsecureRedirects() {
        requireUnsent("allowInsecureRedirects");
        redirects.allowInsecure();
        return this;
    }

    @Override
    public ClientRequest onHead(Consumer<? super ClientResponse> callback) {
        requireUnsent("onHead");
        onHead = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public ClientRequest onData(Consumer<? super Buffer> callback) {
        if (inOnHead) {
            requireConfined("ClientRequest.onData");
        } else {
            requireUnsent("onData");
        }
        onData = Objects.requireNonNull(callback, "callback");
        return this;
    }

    private void requireUnsent(String method) {
        requireConfined("ClientRequest." + method);
        if (outcome != null) {
            throw new IllegalStateException(this + " was sent already: create a new request");
        }
    }

    void requireConfined(String method) {
        client.requireConfined(method);
    }

    @Override
    public Promise<ClientResponse> send(byte[] body) {
        requireUnsent("send");
        this.body = Objects.requireNonNull(body, "body");
        return dispatch(null);
    }

    @Override
    public Promise<ClientResponse> sendJson(@Nullable Object value) {
        requireUnsent("sendJson");
        byte[] json = client.config().jsonMapper().write(value);
        head.setDefault("Content-Type", "application/json");
        return send(json);
    }

    @Override
    public ClientRequestStream stream() {
        return startStream(RequestBodyWriter.CHUNKED);
    }

    @Override
    public ClientRequestStream stream(long length) {
        if (length < 0) {
            throw new IllegalArgumentException(
                    "the length must not be negative, but is "
                            + length
                            + ": use stream() if it is unknown");
        }
        return startStream(length);
    }

    private ClientRequestStream startStream(long length) {
        requireUnsent("stream");
        RequestBodyWriter writer = new RequestBodyWriter(this, length);
        writer.setResponse(dispatch(writer));
        return writer;
    }

    private Promise<ClientResponse> dispatch(@Nullable RequestBodyWriter writer) {
        Deferred<ClientResponse> response = client.loop().deferred();
        CancelledException cancelled = cancellation.reason();
        if (cancelled == null && !timeout.isZero()) {
            deadline = client.loop().after(timeout, _ -> timedOut());
        }
        outcome = response;
        bodyWriter = writer;
        if (cancelled != null) {
            reject(cancelled);
            return response.promise();
        }
        client.execute(this);
        if (cancellation.equals(Cancellation.none())) {
            return response.promise();
        }
        // Without effect unless the cancellation rejected it.
        return response.promise().cancelOn(cancellation).onRejected(this::abandon);
    }

    /// Returns the head, as it is sent.
    byte[] headBytes() {
        return head.build(bodyWriter == null ? head.framing(body.length) : bodyWriter.framing());
    }

    byte[] body() {
        return body;
    }

    /// Returns the writer of a streamed body; null if the body is complete or absent.
    @Nullable RequestBodyWriter bodyWriter() {
        return bodyWriter;
    }

    /// Returns the maximum of pending output.
    long outputLimit() {
        return client.streams(head.origin()).outputLimit();
    }

    /// @param carrier null if the exchange waits for another one
    void setConnection(@Nullable ClientConnection carrier) {
        connection = carrier;
    }

    /// Returns whether the request may be sent again. It may once, if its body can be replayed.
    boolean tryRetry() {
        boolean may = isPending() && !retried && bodyWriter == null && head.isIdempotent();
        retried = true;
        connection = null;
        return may;
    }

    private void timedOut() {
        String missing = connection == null ? "no connection to " : "no complete response from ";
        abandon(
                new SocketTimeoutException(
                        missing
                                + head.origin()
                                + " within "
                                + Durations.format(timeout)
                                + ": raise ClientRequest.timeout, or set it to zero"
                                + unendedHint()));
    }

    /// Gives up because no byte was transferred within the stall timeout.
    ///
    /// @param unsent the bytes of the request that the server has not accepted
    void stalled(long unsent) {
        abandon(
                new SocketTimeoutException(
                        head.origin()
                                + (unsent > 0
                                        ? " accepted nothing of the request for "
                                        : " sent nothing of the response for ")
                                + Durations.format(stallTimeout)
                                + ": raise ClientRequest.stallTimeout, or set it to zero"
                                + unendedHint()));
    }

    private String unendedHint() {
        return bodyWriter == null || bodyWriter.isEnded()
                ? ""
                : "; the body of the request was not ended: call ClientRequestStream.end()";
    }

    /// Rejects the exchange, and drops a connection that carries it.
    void abandon(Throwable why) {
        ClientConnection carrier = connection;
        reject(why);
        if (carrier != null) {
            carrier.abandon();
        } else if (outcome != null) {
            client.forget(this);
        }
    }

    boolean isPending() {
        return outcome != null && !outcome.promise().isSettled();
    }

    /// Returns whether the body is collected, because no callback consumes it.
    boolean collectsBody() {
        return onData == null;
    }

    /// Decides whether a final response is a redirect that will be followed. Then its body is
    /// discarded.
    ///
    /// @throws ProtocolException if the redirect must not be followed
    boolean redirects(int status, Headers headers) throws ProtocolException {
        redirect = redirects.next(head, status, headers, bodyWriter == null);
        return redirect != null;
    }

    void deliverHead(ClientResponse response) {
        Consumer<? super ClientResponse> callback = onHead;
        if (callback != null && isPending()) {
            inOnHead = true;
            try {
                callback.accept(response);
            } finally {
                inOnHead = false;
            }
        }
    }

    void deliver(Buffer part) {
        Consumer<? super Buffer> callback = onData;
        if (callback != null && isPending()) {
            callback.accept(part);
        }
    }

    /// Completes the exchange, or sends the request of a redirect. The connection is free again.
    void complete(ClientResponse response) {
        Redirects.Next next = redirect;
        if (next != null && isPending()) {
            follow(next);
        } else if (outcome != null && outcome.resolve(response)) {
            done();
        }
    }

    private void follow(Redirects.Next next) {
        redirect = null;
        retried = false;
        head.redirect(next.method(), next.uri(), next.dropsBody());
        if (next.dropsBody()) {
            body = EMPTY;
            closeBodyWriter();
        }
        client.execute(this);
    }

    private void closeBodyWriter() {
        if (bodyWriter != null) {
            bodyWriter.close();
            bodyWriter = null;
        }
    }

    /// Does nothing if the exchange is settled.
    void reject(Throwable why) {
        if (outcome != null && outcome.reject(why)) {
            done();
        }
    }

    private void done() {
        if (deadline != null) {
            deadline.cancel();
        }
        closeBodyWriter();
        connection = null;
        client.done(this);
    }

    @Override
    public void pause() {
        requireConfined("ClientRequest.pause");
        setPaused(true);
    }

    @Override
    public void resume() {
        requireConfined("ClientRequest.resume");
        setPaused(false);
    }

    private void setPaused(boolean wanted) {
        if (paused != wanted) {
            paused = wanted;
            if (connection != null) {
                connection.updateReading();
            }
        }
    }

    boolean isPaused() {
        return paused;
    }

    Duration stallTimeout() {
        return stallTimeout;
    }

    /// Restarts the stall timeout: a part of the body was written.
    void onBodyWritten() {
        if (connection != null) {
            connection.onBodyWritten();
        }
    }

    @Override
    public String toString() {
        return head.toString();
    }
}
