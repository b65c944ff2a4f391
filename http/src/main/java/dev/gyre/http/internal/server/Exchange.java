package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.http.Attribute;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A request and its response.
///
/// It is reused for successive requests while handlers respond at once. The handles that handlers
/// hold ([ServerRequest], [ServerResponse], [RequestHeaders], [ServerBody]) store their generation.
/// Every method of a handle throws once its exchange has ended:
///
/// ```
///     begin ──▶ in progress ── response complete, onComplete callbacks called ──▶ ended
///                    └──────▶ lost ── handler settled ────────────────────────────▲
/// ```
///
/// A handler whose connection is lost while it works is still inside its exchange. It can read the
/// request, and its response is discarded. On the thread of a blocking handler the exchange ends
/// when the handler returns.
///
/// Loop thread only. The thread of a blocking handler reads the request.
final class Exchange {
    final ServerContext context;
    final RequestHead head;
    final ResponseState response;
    final HandlerCompletion completion;
    final ExchangeEvents events;

    // Loop thread only.
    @Nullable HttpConnection connection;

    /// The number of requests served, to distinguish the handles of this one from those before.
    private int generation;

    private @Nullable RequestBody body;
    private @Nullable ServerBody handlerBody; // Created on demand.
    private @Nullable Buffer input; // While the handler is called, if there is a body.
    private int headLength;
    private boolean saidContinue;
    private boolean losing; // While callbacks learn of the loss.
    private @Nullable DisconnectWatch watch; // Created on demand.
    @Nullable Map<Attribute<?>, Object> attributes; // On demand; concurrent for a BlockingCall.
    @Nullable Route route; // Set once it is found.
    List<String> values = List.of(); // Of the route's parameters.

    /// The running blocking handler; `null` for other handlers. Shared: read by any thread that
    /// holds the request. Such an exchange is never reused, so this is set once; volatile, so that
    /// a thread which sees it also sees the generation it belongs to.
    private volatile @Nullable BlockingCall call;

    Exchange(ServerContext context, RequestHead head) {
        this.context = context;
        this.head = head;
        response = new ResponseState(this);
        completion = new HandlerCompletion(this);
        events = new ExchangeEvents(this);
    }

    /// @param input starts with the head
    void begin(HttpConnection connection, Buffer input, int headLength) {
        this.connection = connection;
        assert call == null : "the exchange of a blocking handler must not be reused";
        generation++;
        completion.reset();
        saidContinue = false;
        watch = null;
        handlerBody = null;
        route = null;
        body = head.hasBody() ? new RequestBody(this, connection) : null;
        this.input = body == null ? null : input;
        this.headLength = headLength;
        response.reset();
        events.begin(connection.stream());
    }

    int generation() {
        return generation;
    }

    /// Returns whether the exchange of that generation is in progress, and not lost.
    boolean isCurrent(int generation) {
        return generation == this.generation && !isEnded();
    }

    /// Returns whether handles of that generation are valid.
    boolean isLive(int generation) {
        return generation == this.generation && connection != null;
    }

    /// @throws IllegalStateException if the exchange of that generation has ended
    void requireLive(int generation) {
        if (!isLive(generation)) {
            throw ServerRequest.ended();
        }
    }

    /// @throws IllegalStateException if the exchange has ended or is lost
    HttpConnection connection() {
        HttpConnection known = connection;
        if (known == null || (isLost() && !losing)) {
            throw ServerRequest.ended();
        }
        return known;
    }

    /// Returns the state of the connection; IDLE once the exchange has ended.
    ExchangeState state() {
        HttpConnection known = connection;
        return known == null ? ExchangeState.IDLE : known.state();
    }

    boolean isLost() {
        return state().isClosed();
    }

    /// Returns whether the exchange has ended or is lost.
    boolean isEnded() {
        return connection == null || isLost();
    }

    /// Returns whether the exchange is lost, also by a write just now, which the stream reports
    /// later.
    boolean isConnectionLost() {
        HttpConnection known = connection;
        if (known != null && !known.stream().isOpen()) {
            known.connectionLost(ExchangeState.CLOSING, this);
        }
        return isLost();
    }

    /// Called once when the connection closes under the exchange: the response is discarded.
    ///
    /// @param before the state in which it was lost
    void connectionLost(CloseReason reason, ExchangeState before) {
        losing = true;
        try {
            notifyLost(reason, before);
        } finally {
            losing = false;
        }
        endIfLost();
    }

    /// Ends a lost exchange once its handler has settled.
    void endIfLost() {
        if (isLost() && !losing && completion.isSettled()) {
            forget();
        }
    }

    private void notifyLost(CloseReason reason, ExchangeState before) {
        RequestBody unread = body;
        if (before == ExchangeState.RESPONDING
                && reason == CloseReason.OUTPUT_LIMIT
                && response.isStreamed()) {
            completion.warnOfOutputLimit();
        }
        if (unread != null) {
            ServerBody _ = handlerBody(); // The handler may ask for it later.
        }
        body = null;
        response.lost(before);
        if (unread != null) {
            unread.fail(new HttpException(400, "the connection was closed: " + reason));
        }
        if (before.isInProgress()) {
            response.ended();
            BlockingCall handler = call;
            if (handler != null) {
                handler.lost(reason);
            }
            if (watch != null) {
                watch.lost(reason);
            }
        }
        if (unread != null) {
            unread.release();
        }
    }

    private DisconnectWatch watch() {
        DisconnectWatch known = watch;
        if (known == null) {
            known = new DisconnectWatch(this);
            watch = known;
        }
        return known;
    }

    /// Returns a cancellation for work that the client does not wait for any more.
    Cancellation cancellation(int generation) {
        requireLiveOrRunning(generation);
        return watch().cancellation();
    }

    /// Called when the client has ended its side, and may still wait for the response.
    void clientEnded() {
        if (!response.isComplete()) {
            watch().ended();
        }
    }

    /// Returns whether a failure only follows from the client's end.
    boolean isClientEnd(Throwable cause) {
        DisconnectWatch known = watch;
        return known != null && known.isReason(cause);
    }

    /// Gives the request to the thread of a blocking handler. Its head gets memory of its own, and
    /// so does a short body that has arrived.
    void block(BlockingCall handler) {
        head.keep();
        RequestBody unread = body;
        if (unread != null) {
            if (input != null) {
                unread.prefetch(input, headLength);
            }
            ServerBody _ = handlerBody(); // Created here: the handler may read it after the end.
        }
        call = handler;
    }

    /// Returns whether a handler may use it after the response.
    boolean mayBeHeld() {
        return call != null || isLost();
    }

    /// Called when the handler has returned or thrown.
    void handlerReturned(Promise<?> promise) {
        input = null;
        completion.handlerReturned(promise);
    }

    /// Returns how many bytes of the body [#block] has read from the input.
    int prefetched() {
        return body == null ? 0 : body.prefetched();
    }

    /// Requires a live exchange, and the loop thread.
    ///
    /// @param method the method that was called, for the message
    void requireOnLoop(int generation, String method) {
        if (!context.loop.isLoopThread()) {
            BlockingCall handler = call;
            if (handler != null) {
                handler.requireRunning(generation);
            }
            context.onLoop.requireIdle(method);
        }
        requireLive(generation);
    }

    /// Requires a live exchange, and the loop thread or that of the blocking handler.
    ///
    /// @return whether this is the thread of the blocking handler, or one that it has started
    boolean requireReadable(int generation, String method) {
        if (context.loop.isLoopThread()) {
            requireLiveOrRunning(generation);
            return false;
        }
        return requireWorker(generation, method);
    }

    /// Requires a live exchange, or a blocking handler that runs on after it has ended.
    private void requireLiveOrRunning(int generation) {
        BlockingCall handler = isLive(generation) ? null : call;
        if (handler == null) {
            requireLive(generation);
        } else {
            handler.requireRunning(generation);
        }
    }

    private boolean requireWorker(int generation, String method) {
        BlockingCall handler = call;
        if (handler == null) {
            context.onLoop.requireIdle(method);
            requireLive(generation);
            return false;
        }
        handler.requireRunning(generation);
        return true;
    }

    /// Returns the connection for a reader of the request, also after it is lost.
    HttpConnection readerConnection() {
        BlockingCall handler = call;
        return handler == null ? Objects.requireNonNull(connection) : handler.connection;
    }

    /// Counts a blocking handler among the running ones unless it waits for the client.
    void recount() {
        BlockingCall known = call;
        if (known != null) {
            RequestBody content = body;
            known.count((content == null || !content.isAwaited()) && !response.isWaitingForRoom());
        }
    }

    @Nullable RequestBody body() {
        return body;
    }

    /// Returns the body for the handler, which may be empty.
    ServerBody handlerBody() {
        ServerBody known = handlerBody;
        if (known == null) {
            RequestBody source = body != null ? body : RequestBody.empty(this, readerConnection());
            known = new ServerBody(this, source);
            handlerBody = known;
        }
        return known;
    }

    /// Returns how many bytes of the body were received, also after it is lost.
    long receivedBytes() {
        RequestBody known = body != null || handlerBody == null ? body : handlerBody.source();
        return known == null ? 0 : known.received();
    }

    boolean isBodyUnfinished() {
        return body != null && !body.isEnded();
    }

    /// Fails the body because no more of it comes.
    ///
    /// @return whether the client may still read the rest of a response
    boolean failBodyAtEnd() {
        Objects.requireNonNull(body).failAtEnd();
        return response.isWhole() && !response.isComplete();
    }

    /// Returns whether input belongs to the body.
    boolean isBodyWanted() {
        return body != null && body.isWanted();
    }

    /// Returns whether the client waits for 100 Continue before it sends the body.
    private boolean waitsForContinue() {
        return head.expectsContinue() && !saidContinue;
    }

    /// Returns whether another connection is cheaper than the rest of the body. A client that waits
    /// for 100 Continue may or may not send its body.
    boolean leavesTooMuch() {
        RequestBody known = body;
        return known != null
                && !known.isEnded()
                && (waitsForContinue()
                        || known.isTooLong()
                        || (!known.isBegun() && !known.isWorthDropping()));
    }

    /// Sends 100 Continue if the client waits for it.
    void sendContinue(HttpConnection connection) {
        if (waitsForContinue() && !response.isCommitted()) {
            saidContinue = true;
            context.out(connection, HeaderLines.CONTINUE.length).put(HeaderLines.CONTINUE);
            connection.flushUnlessServing();
        }
    }

    /// Called when the route is known, before its middleware.
    void begin(Route route) {
        this.route = route;
        events.routed(route, connection);
        RequestBody known = body;
        if (known != null) {
            known.limit(route.maxBody);
        }
        if (!route.hasMiddleware) {
            beginHandler();
        }
    }

    /// Called before the handler, after all middleware.
    ///
    /// @throws HttpException 413 if the announced body exceeds the limit
    void beginHandler() {
        response.markMiddlewareHeaders();
        RequestBody known = body;
        if (known != null) {
            long _ = known.requireWithin(Long.MAX_VALUE);
        }
    }

    /// Called when the handler has not sent a response in time.
    void timeOut(HttpException reason) {
        if (!response.isCommitted()) {
            completion.fail(reason);
            if (watch != null || call != null) { // A blocking handler may use it later.
                watch().timedOut();
            }
        }
    }

    /// Called when the body is malformed, too long or too slow. Sends the error unless a response
    /// is committed.
    void failBody(HttpException reason) {
        HttpConnection known = connection();
        RequestBody unread = body;
        if (unread != null) {
            unread.fail(reason);
        }
        if (!response.isCommitted()) {
            completion.fail(reason);
        } else if (response.isWhole() || unread == null || unread.isFailureHandled()) {
            known.giveUpBody();
        } else {
            known.truncate(this);
        }
    }

    /// Called when the response is complete and the body was read, or the connection is lost.
    void end() {
        RequestBody unread = body;
        if (unread != null) {
            unread.abandon();
            unread.release();
        }
        body = null;
        if (watch != null) {
            watch.stop();
        }
        if (isLost()) {
            endIfLost();
        } else {
            forget();
        }
    }

    private void forget() {
        connection = null;
        if (call == null) { // The thread of a blocking handler may still read these.
            attributes = null;
            handlerBody = null;
        }
    }
}
