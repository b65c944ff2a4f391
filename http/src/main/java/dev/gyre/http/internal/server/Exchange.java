package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.Body;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A request and its answer.
///
/// Loop thread only, but for what [ServerRequest] and [ServerResponse] say.
final class Exchange {
    /// Made when there is something to say: the first logger of a process reads configurations and jars, and a
    /// server's first answer would wait for it.
    private static final class Log {
        static final System.Logger LOGGER = System.getLogger("dev.gyre.http");
    }

    private static final int MOST_CAUSES = 16;

    final Workbench bench;
    final RequestHead head;
    final ServerRequest request;
    final ServerResponse response;

    private @Nullable HttpConnection connection;
    private @Nullable RequestBody body;
    private @Nullable NoBody noBody;
    private boolean failed;

    private boolean saidContinue;

    /// How many requests it has served, so that what belongs to an earlier one is told from this one's.
    private int generation;

    /// Whether the connection was closed before the answer was complete.
    private boolean lost;

    /// Its handler at work, if that is a blocking one, with a thread of its own. Read by any thread that has the request.
    private @Nullable BlockingCall call;

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
        call = null;
        noBody = null;
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
            unread.fail(new HttpException(400, "the connection was closed: " + reason));
        }
        if (!complete) {
            response.tellDone();
            if (call != null) {
                call.cancel();
            }
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

    /// The connection that was lost.
    HttpConnection lostConnection() {
        return Objects.requireNonNull(connection);
    }

    boolean isLost() {
        return lost;
    }

    // ------------------------------------------------------------------ threads

    void isBlocking(BlockingCall handler) {
        call = handler;
    }

    /// Whether this is the thread of its blocking handler, or one that this has started: what is asked for has to be
    /// carried out on the loop.
    ///
    /// @param method which is called, for the message
    /// @throws WrongThreadException on any other thread than the loop's: it would write among what the loop writes for others
    boolean isElsewhere(String method) {
        return !bench.loop.isLoopThread() && isOnAThreadOfItsOwn(method);
    }

    private boolean isOnAThreadOfItsOwn(String method) {
        Thread owner = bench.loop.thread();
        if (call == null && owner != null) {
            throw new WrongThreadException(
                    method
                            + " belongs to the thread of loop "
                            + bench.loop.config().name()
                            + ", "
                            + owner
                            + ", but was called on "
                            + Thread.currentThread()
                            + ": hand it over with loop.submit, let loop.promisify bring the result"
                            + " of work elsewhere, or make the route one of server.blocking");
        }
        return call != null;
    }

    /// Whether this thread may not even look at it.
    boolean isForeignHere() {
        return call == null && !bench.loop.isLoopThread() && bench.loop.thread() != null;
    }

    /// Whether its handler waits for the peer may be another thing now.
    void recount() {
        BlockingCall known = call;
        if (known != null) {
            RequestBody content = body;
            known.count((content == null || !content.isAwaited()) && !response.isWaitingForRoom());
        }
    }

    // ------------------------------------------------------------------ callbacks

    /// What a callback of a user's throws; null if it returns. All of them are called here. What the
    /// virtual machine cannot go on from is nobody's to catch.
    static <T> @Nullable Throwable thrownBy(Consumer<? super T> callback, T value) {
        try {
            callback.accept(value);
            return null;
        } catch (Throwable e) {
            if (e instanceof VirtualMachineError && !(e instanceof StackOverflowError)) {
                throw e;
            }
            return e;
        }
    }

    /// Tells a user something: if the callback throws that is logged, and the rest goes on.
    static <T> void tell(Consumer<? super T> callback, T value) {
        Throwable thrown = thrownBy(callback, value);
        if (thrown != null) {
            Log.LOGGER.log(System.Logger.Level.ERROR, "a callback of a request failed", thrown);
        }
    }

    static void guarded(Runnable callback) {
        tell(Runnable::run, callback);
    }

    /// Runs a part of its handler: if that throws, the handler has failed.
    void goOn(Runnable callback) {
        Throwable thrown = thrownBy(Runnable::run, callback);
        if (thrown != null) {
            fail(thrown);
        }
    }

    // ------------------------------------------------------------------ content

    /// The content; null if there is none.
    @Nullable RequestBody body() {
        return body;
    }

    /// The content for its handler, also if there is none.
    Body content() {
        if (body != null) {
            return body;
        }
        NoBody known = noBody;
        if (known == null) {
            known = new NoBody(this);
            noBody = known;
        }
        return known;
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

    /// What a handler has returned, or what stands for nothing.
    ///
    /// @throws IllegalStateException if it is nothing, and there is no answer either
    Promise<?> returned(@Nullable Promise<?> promise) {
        if (promise != null) {
            return promise;
        }
        if (!isOver() && !response.isAnswered()) {
            throw new IllegalStateException(
                    "the handler of "
                            + describe()
                            + " has returned null, and has not answered: return what"
                            + " response.text(…) or another answer returned, or a promise");
        }
        return bench.done;
    }

    /// The handler has returned: waits for its promise, unless that is settled.
    void handled(Promise<?> promise) {
        if (promise == bench.done && response.isAnswered()) {
            return;
        }
        int mine = generation;
        promise.then(
                _ -> {
                    if (isCurrent(mine) && !response.isAnswered()) {
                        fail(unanswered("handler"));
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

    private IllegalStateException unanswered(String who) {
        return new IllegalStateException(
                "the " + who + " of " + describe() + " is done, and has not answered");
    }

    private String describe() {
        return head.method() + " " + head.target();
    }

    /// What is at fault, if a peer is: what was thrown for that is often wrapped on its way.
    private static @Nullable HttpException meant(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
            if (cause instanceof HttpException known) {
                return known;
            }
            cause = cause.getCause();
        }
        return null;
    }

    private void warn(String what, Throwable failure) {
        // Not of what a peer did, who could fill the log with it, nor of one that is gone.
        if (!lost && meant(failure) == null) {
            Log.LOGGER.log(System.Logger.Level.WARNING, what, failure);
        }
    }

    /// The handler has failed: answers for it, or cuts the answer off that has begun.
    void fail(Throwable failure) {
        if (isOver() || response.isWhole()) {
            warn("a handler failed after its answer", failure);
        } else if (response.isAnswered()) {
            warn("a handler failed in the middle of its answer", failure);
            connection().cutOff(this);
        } else if (failed) {
            warn("a handler failed again, for which an error is being answered", failure);
        } else {
            failed = true;
            response.begin();
            answerFor(failure);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself, whatever it equals
    private void answerFor(Throwable failure) {
        try {
            Promise<?> answered = returned(bench.server.answerFailure(this, failure));
            if (answered == bench.done && response.isAnswered()) {
                return;
            }
            int mine = generation;
            answered.then(
                    _ -> {
                        if (isCurrent(mine) && !response.isAnswered()) {
                            failAgain(unanswered("error handler"));
                        }
                        return this;
                    },
                    another -> {
                        if (mine == generation) {
                            failAgain(another);
                        }
                        return this;
                    });
        } catch (Throwable another) {
            if (another != failure) {
                another.addSuppressed(failure);
            }
            failAgain(another);
        }
    }

    /// What was to answer for a failure has failed itself.
    private void failAgain(Throwable another) {
        if (isOver() || response.isAnswered()) {
            fail(another);
        } else {
            response.begin();
            Promise<?> _ = answerPlainly(another);
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
        HttpException known = meant(failure);
        if (known != null) {
            if (known.status() == 503) {
                response.header("Retry-After", "1"); // It is for want of a place, which passes.
            }
            return response.status(known.status()).text(known.getMessage() + "\n");
        }
        Log.LOGGER.log(
                System.Logger.Level.ERROR, "the handler of " + describe() + " failed", failure);
        return response.status(500).text("internal error\n");
    }

    /// A blocking handler has returned, and nobody is left who would end what it has begun.
    void endIfLeftOpen(BlockingCall handler) {
        if (call == handler && !isOver() && response.isLeftOpen()) {
            Log.LOGGER.log(
                    System.Logger.Level.WARNING,
                    "the blocking handler of "
                            + handler.route()
                            + " has returned and not ended its content, which is cut off: call"
                            + " end() before");
            connection().cutOff(this);
        }
    }
}
