package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// A request and its answer.
///
/// Loop thread only, but for what [ServerRequest] and [ServerResponse] say.
final class Exchange {
    private static final System.Logger LOG = System.getLogger("dev.gyre.http");

    final Workbench bench;
    final RequestHead head;
    final ServerRequest request;
    final ServerResponse response;

    private @Nullable HttpConnection connection;
    private @Nullable RequestBody body;
    private boolean failed;

    List<String> parameters = List.of();
    String[] values = {};

    Exchange(Workbench bench, RequestHead head) {
        this.bench = bench;
        this.head = head;
        request = new ServerRequest(this);
        response = new ServerResponse(this);
    }

    void begin(HttpConnection connection) {
        this.connection = connection;
        failed = false;
        parameters = List.of();
        body = head.hasContent() ? new RequestBody(this, connection) : null;
        response.begin();
    }

    /// Whose request it is.
    ///
    /// @throws IllegalStateException if it is over
    HttpConnection connection() {
        HttpConnection known = connection;
        if (known == null) {
            throw new IllegalStateException(
                    "the request was answered, and is over: keep what is needed of it, not the"
                        + " request itself");
        }
        return known;
    }

    boolean isOver() {
        return connection == null;
    }

    /// The content; null if there is none.
    @Nullable RequestBody body() {
        return body;
    }

    void noteFound(Site site, String[] values) {
        parameters = site.parameters;
        this.values = values;
    }

    /// It is answered and all of it was read, or its connection is gone.
    void end() {
        connection = null;
        body = null;
    }

    // ------------------------------------------------------------------ how its handler did

    /// The handler has returned: waits for its promise, unless that is settled.
    void handled(Promise<?> promise) {
        if (promise == bench.done && response.isAnswered()) {
            return;
        }
        promise.then(
                _ -> {
                    if (!isOver() && !response.isAnswered()) {
                        fail(
                                new IllegalStateException(
                                        "the handler of "
                                                + head.method()
                                                + " "
                                                + head.target()
                                                + " is done, and has not answered"));
                    }
                    return null;
                },
                failure -> {
                    fail(failure);
                    return null;
                });
    }

    private static void warn(String what, Throwable failure) {
        // Not of what a peer did, who could fill the log with it.
        if (!(failure instanceof HttpException)) {
            LOG.log(System.Logger.Level.WARNING, what, failure);
        }
    }

    /// The handler has failed: answers for it, or cuts the answer off that has begun.
    void fail(Throwable failure) {
        if (isOver() || response.isComplete()) {
            warn("a handler failed after its answer", failure);
            return;
        }
        HttpConnection known = connection();
        if (response.isAnswered() || failed) {
            warn("a handler failed in the middle of its answer", failure);
            known.abort();
            return;
        }
        failed = true;
        response.begin();
        try {
            handled(bench.server.answerFailure(this, failure));
        } catch (Throwable another) {
            another.addSuppressed(failure);
            LOG.log(
                    System.Logger.Level.ERROR,
                    "answering for a handler that failed, failed",
                    another);
            if (response.isAnswered()) {
                known.abort();
            } else {
                response.begin();
                response.status(500).text("internal error\n");
            }
        }
    }

    /// Answers with what an error says, and with no word about others.
    Promise<?> answerPlainly(Throwable failure) {
        if (failure instanceof HttpException known) {
            return response.status(known.status()).text(known.getMessage() + "\n");
        }
        LOG.log(
                System.Logger.Level.ERROR,
                "the handler of " + head.method() + " " + head.target() + " failed",
                failure);
        return response.status(500).text("internal error\n");
    }
}
