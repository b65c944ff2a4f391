package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/// A request and its answer.
///
/// Loop thread only, but for what [ServerRequest] and [ServerResponse] say.
final class Exchange {
    /// Made when there is something to say: the first logger of a process reads configurations and jars, and a
    /// server's first answer would wait for it.
    private static final class Log {
        static final System.Logger LOGGER = System.getLogger("dev.gyre.http");
    }

    final Workbench bench;
    final RequestHead head;
    final ServerRequest request;
    final ServerResponse response;

    private @Nullable HttpConnection connection;
    private @Nullable RequestBody body;
    private boolean failed;

    private boolean saidContinue;

    /// How many requests it has served, so that what belongs to an earlier one is told from this one's.
    private int generation;

    /// Whether the connection was closed before the answer was complete.
    private boolean lost;

    /// Whether its handler is a blocking one, with a thread of its own.
    private boolean blocking;

    List<String> parameters = List.of();
    List<String> values = List.of();

    Exchange(Workbench bench, RequestHead head) {
        this.bench = bench;
        this.head = head;
        request = new ServerRequest(this);
        response = new ServerResponse(this);
    }

    void begin(HttpConnection connection) {
        this.connection = connection;
        generation++;
        failed = false;
        lost = false;
        saidContinue = false;
        blocking = false;
        parameters = List.of();
        body = head.hasContent() ? new RequestBody(this, connection) : null;
        response.reset();
    }

    int generation() {
        return generation;
    }

    /// Whether that request is still the one it serves, and is not over.
    boolean isCurrent(int generation) {
        return generation == this.generation && !isOver();
    }

    /// Whose request it is.
    ///
    /// @throws IllegalStateException if it is over
    HttpConnection connection() {
        HttpConnection known = connection;
        if (known == null || lost) {
            throw new IllegalStateException(
                    "the request was answered, and is over: keep what is needed of it, not the"
                            + " request itself");
        }
        return known;
    }

    boolean isOver() {
        return connection == null || lost;
    }

    /// The connection is gone, and what is answered is swallowed.
    void lose(CloseReason reason) {
        RequestBody unread = body;
        boolean complete = response.isComplete();
        lost = true;
        body = null;
        response.lost();
        if (unread != null) {
            guarded(
                    () ->
                            unread.fail(
                                    new HttpException(
                                            400, "the connection was closed: " + reason)));
        }
        if (!complete) {
            response.tellDone();
        }
        if (unread != null) {
            unread.letGo();
        }
    }

    private void letGoOfContent() {
        RequestBody known = body;
        if (known != null) {
            known.letGo();
        }
    }

    /// Runs what a user wants to be told: if that throws, the rest goes on.
    static void guarded(Runnable callback) {
        try {
            callback.run();
        } catch (RuntimeException | StackOverflowError | AssertionError e) {
            Log.LOGGER.log(System.Logger.Level.ERROR, "a callback of a request failed", e);
        }
    }

    /// The connection that was lost.
    HttpConnection lostConnection() {
        return Objects.requireNonNull(connection);
    }

    boolean isLost() {
        return lost;
    }

    void isBlocking() {
        blocking = true;
    }

    /// Whether this is the thread of its blocking handler: what is asked for has to be done on the loop.
    boolean isElsewhere() {
        return blocking && !bench.loop.isLoopThread();
    }

    /// The content; null if there is none.
    @Nullable RequestBody body() {
        return body;
    }

    /// Whether what arrives is to be handed to the content.
    boolean isBodyWanted() {
        RequestBody known = body;
        return known != null && known.isWanted();
    }

    /// Whether the peer holds its content back until it is asked for.
    boolean waitsForContinue() {
        return head.expectsContinue() && !saidContinue;
    }

    /// Whether another connection is cheaper than what is left of the content. Of what was expected to be asked for nobody
    /// knows whether it will come.
    boolean leavesTooMuch() {
        RequestBody known = body;
        return known != null
                && !known.isEnded()
                && (waitsForContinue() || (!known.isBegun() && !known.isWorthDropping()));
    }

    /// Asks for content that is held back.
    void sayContinue(HttpConnection connection) {
        if (waitsForContinue() && !response.isAnswered()) {
            saidContinue = true;
            bench.out(connection, Lines.CONTINUE.length).put(Lines.CONTINUE);
            connection.flushUnlessServing();
        }
    }

    void noteFound(Site site, List<String> values) {
        parameters = site.parameters;
        this.values = values;
    }

    /// It is answered and all of it was read, or its connection is gone.
    void end() {
        letGoOfContent();
        request.forget();
        connection = null;
        body = null;
    }

    // ------------------------------------------------------------------ how its handler did

    /// The handler has returned: waits for its promise, unless that is settled.
    void handled(Promise<?> promise) {
        if (promise == bench.done && response.isAnswered()) {
            return;
        }
        int mine = generation;
        promise.then(
                _ -> {
                    if (isCurrent(mine) && !response.isAnswered()) {
                        fail(
                                new IllegalStateException(
                                        "the handler of "
                                                + head.method()
                                                + " "
                                                + head.target()
                                                + " is done, and has not answered"));
                    }
                    return this;
                },
                failure -> {
                    if (mine == generation) {
                        fail(failure);
                    }
                    return this;
                });
    }

    private void warn(String what, Throwable failure) {
        // Not of what a peer did, who could fill the log with it, nor of one that is gone.
        if (!lost && !(failure instanceof HttpException)) {
            Log.LOGGER.log(System.Logger.Level.WARNING, what, failure);
        }
    }

    /// The handler has failed: answers for it, or cuts the answer off that has begun.
    void fail(Throwable failure) {
        if (isOver() || response.isWhole()) {
            warn("a handler failed after its answer", failure);
            return;
        }
        HttpConnection known = connection();
        if (response.isAnswered() || failed) {
            warn("a handler failed in the middle of its answer", failure);
            known.cutOff(this);
            return;
        }
        failed = true;
        response.begin();
        try {
            handled(bench.server.answerFailure(this, failure));
        } catch (Throwable another) {
            another.addSuppressed(failure);
            Log.LOGGER.log(
                    System.Logger.Level.ERROR,
                    "answering for a handler that failed, failed",
                    another);
            if (response.isAnswered()) {
                known.cutOff(this);
            } else {
                response.begin();
                response.status(500).text("internal error\n");
            }
        }
    }

    /// The content is no HTTP, too long or too slow: answers so, unless something else was answered already.
    void failContent(HttpException reason) {
        HttpConnection known = connection();
        RequestBody unread = body;
        if (unread != null) {
            unread.fail(reason);
        }
        if (!response.isAnswered()) {
            fail(reason);
        } else if (response.isWhole() || unread == null || unread.isFailureHeard()) {
            known.giveUpBody();
        } else {
            known.cutOff(this);
        }
    }

    /// Answers with what an error says, and with no word about others.
    Promise<?> answerPlainly(Throwable failure) {
        if (failure instanceof HttpException known) {
            if (known.status() == 503) {
                response.header("Retry-After", "1"); // It is for want of a place, which passes.
            }
            return response.status(known.status()).text(known.getMessage() + "\n");
        }
        Log.LOGGER.log(
                System.Logger.Level.ERROR,
                "the handler of " + head.method() + " " + head.target() + " failed",
                failure);
        return response.status(500).text("internal error\n");
    }
}
