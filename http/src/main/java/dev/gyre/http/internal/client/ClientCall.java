package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.HttpAnswer;
import dev.gyre.http.HttpCall;
import dev.gyre.http.internal.message.FieldList;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/// A request from when it is written down to when it is answered.
///
/// Loop thread only.
final class ClientCall implements HttpCall {
    private static final byte[] NOTHING = {};
    private static final Set<String> IDEMPOTENT =
            Set.of("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE");

    /// Of these a server wants to hear that there is no content.
    private static final Set<String> WITH_CONTENT = Set.of("POST", "PUT", "PATCH");

    /// What says where the request ends is not for callers to say.
    private static final Set<String> OURS = Set.of("content-length", "transfer-encoding");

    private final LoopClient client;
    private final String method;
    private final Origin origin;
    private final String target;
    private final FieldList fields = new FieldList();
    private Duration timeout;
    private @Nullable Consumer<? super Buffer> onData;

    private Cancellation wanted = Cancellation.none();

    private byte[] content = NOTHING;
    private @Nullable Deferred<HttpAnswer> outcome;
    private @Nullable Timer patience;
    private @Nullable ClientConnection carrier;
    private boolean retried;

    ClientCall(LoopClient client, String method, Origin origin, URI uri, Duration timeout) {
        this.client = client;
        this.method = method;
        this.origin = origin;
        this.timeout = timeout;
        String path = uri.getRawPath();
        String query = uri.getRawQuery();
        target = (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
    }

    // ------------------------------------------------------------------ writing it down

    @Override
    public HttpCall header(String name, String value) {
        requireUnsent("header");
        requireNotOurs(name);
        fields.set(name, value);
        return this;
    }

    @Override
    public HttpCall addHeader(String name, String value) {
        requireUnsent("addHeader");
        requireNotOurs(name);
        if (name.equalsIgnoreCase("Host") && fields.get(name) != null) {
            throw new IllegalArgumentException("a request has one Host only: set it by header()");
        }
        fields.add(name, value);
        return this;
    }

    private static void requireNotOurs(String name) {
        if (OURS.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    name + " is seen to: it says what the content is that send() is given");
        }
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
    public HttpCall onData(Consumer<? super Buffer> callback) {
        requireUnsent("onData");
        onData = Objects.requireNonNull(callback, "callback");
        return this;
    }

    private void requireUnsent(String what) {
        client.requireConfined("HttpCall." + what);
        if (outcome != null) {
            throw new IllegalStateException(method + " " + target + " was sent already");
        }
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
        Deferred<HttpAnswer> made = client.loop().deferred();
        CancelledException unwanted = wanted.reason();
        if (unwanted != null) {
            outcome = made;
            made.reject(unwanted);
            return made.promise();
        }
        patience = client.loop().after(timeout, _ -> tooLate());
        outcome = made;
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

    /// The first line and the fields, with the empty line behind them.
    byte[] head() {
        StringBuilder head = new StringBuilder(256);
        head.append(method).append(' ').append(target).append(" HTTP/1.1\r\n");
        if (fields.get("Host") == null) {
            head.append("Host: ").append(origin.field()).append("\r\n");
        }
        if (fields.get("User-Agent") == null) {
            head.append("User-Agent: gyre\r\n");
        }
        if (content.length > 0 || WITH_CONTENT.contains(method)) {
            head.append("Content-Length: ").append(content.length).append("\r\n");
        }
        fields.appendTo(head);
        return head.append("\r\n").toString().getBytes(UTF_8);
    }

    byte[] content() {
        return content;
    }

    void carriedBy(ClientConnection connection) {
        carrier = connection;
    }

    /// Waits for another connection.
    void carriedByNobody() {
        carrier = null;
    }

    /// Whether it may be sent again, which it may once.
    boolean tryAgain() {
        boolean may = isPending() && !retried && IDEMPOTENT.contains(method);
        retried = true;
        carrier = null;
        return may;
    }

    private void tooLate() {
        ClientConnection by = carrier;
        String where =
                by == null ? "no connection to " + origin : "no complete answer of " + origin;
        giveUp(new SocketTimeoutException(where + " within " + timeout));
    }

    /// Nobody waits for it any more: if it is on its way, its connection is of no more use.
    private void giveUp(Throwable why) {
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
        return origin;
    }

    String method() {
        return method;
    }

    /// Whether the connection is not to be used after it.
    boolean isLast() {
        return fields.lists("Connection", "close");
    }

    /// Whether content is put together, as nobody takes it bit by bit.
    boolean collects() {
        return onData == null;
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
        carrier = null;
        client.done(this);
    }
}
