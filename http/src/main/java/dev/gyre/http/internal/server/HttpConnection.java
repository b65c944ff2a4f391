package dev.gyre.http.internal.server;

import static dev.gyre.http.internal.server.ExchangeState.CLOSING;
import static dev.gyre.http.internal.server.ExchangeState.IDLE;
import static dev.gyre.http.internal.server.ExchangeState.READING_HEAD;
import static dev.gyre.http.internal.server.ExchangeState.UPGRADED;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// A connection: serves requests one after the other, and owns the [ExchangeState].
///
/// An exchange whose handler responds before it returns reuses the server's spare exchange. Every
/// other exchange is kept here until it ends. Requests that arrive meanwhile stay unread in the
/// stream, which is paused as soon as there are any.
///
/// Loop thread only.
final class HttpConnection implements Protocol {
    /// The max number of requests in a row before other connections are served.
    static final int MAX_REQUESTS_PER_CALLBACK = 64;

    final ServerContext context;
    final ConnectionTimeouts timeouts;
    final WriteRateGuard output;
    private final Stream stream;
    private final UnreadInputBudget.Entry unread;

    // Loop thread only.
    private ExchangeState state = IDLE;

    /// The exchange whose handler has returned; `null` while a handler runs, and between requests.
    @Nullable Exchange open;

    private @Nullable ServerResponseStream events;
    private @Nullable Consumer<Stream> upgrade;
    boolean serving; // The responses of a read callback are written together at its end.
    private boolean closes; // After the current response.
    private boolean inputEnded; // The client has ended its side, and all input was read.
    private boolean inputEndPending; // The same, with unread requests before the end.

    HttpConnection(ServerContext context, Stream stream) {
        this.context = context;
        this.stream = stream;
        timeouts = new ConnectionTimeouts(context, this);
        output = new WriteRateGuard(context, stream);
        unread = context.unreadInput.new Entry(this);
    }

    Stream stream() {
        return stream;
    }

    ExchangeState state() {
        return state;
    }

    /// Enters the next state, which decides about timeouts.
    void enter(ExchangeState next) {
        state = state.to(next);
        timeouts.entered(next);
    }

    @Override
    public void onData(Stream stream, Buffer data) {
        if (open != null) {
            takeBody(open, data);
        }
        if (open != null) {
            pauseIfAhead(open, data);
        } else if (!state.isClosed()) {
            serve(data);
        }
        // A closed stream, or one that another protocol owns, has no unread requests.
        unread.note(stream.isOpen() && state != UPGRADED ? data.readable() : 0);
    }

    /// Pauses the stream if pipelined requests wait for the current response.
    private void pauseIfAhead(Exchange exchange, Buffer data) {
        if (data.readable() > 0 && !exchange.isBodyWanted()) {
            if (unread.isEvicted()) {
                data.clear();
            }
            stream.pause();
            notifyOfPendingEnd();
        }
    }

    /// Serves the requests in the buffer until a handler does not respond before it returns.
    private void serve(Buffer data) {
        serving = true;
        try {
            for (int served = 0; data.readable() > 0 && !closes && !state.isClosed(); served++) {
                if (served == MAX_REQUESTS_PER_CALLBACK || !output.hasRoom()) {
                    readHead(); // Goes on once the client has read enough of its responses.
                    timeouts.work();
                    if (served == MAX_REQUESTS_PER_CALLBACK) {
                        stream.pause();
                        context.loop.defer(this::resumeIfOpen);
                    }
                    return;
                }
                Exchange exchange = context.spare();
                int length = context.parse(exchange.head, data, stream);
                if (length <= 0) {
                    if (length < 0) {
                        reject(exchange.head.error(), exchange.head);
                    }
                    break;
                }
                handle(exchange, length, data);
                if (open == exchange) {
                    pauseIfAhead(exchange, data);
                }
                if (open == exchange || state == UPGRADED) {
                    return;
                }
            }
            awaitNext(data.readable() > 0);
        } finally {
            serving = false;
            context.flush();
        }
    }

    /// Waits for the next request, or for the rest of its head.
    private void awaitNext(boolean begun) {
        if (closes || (!begun && context.server.isDraining())) {
            closeNow();
        } else if (begun && !state.isClosed()) {
            readHead();
            timeouts.head();
        }
    }

    private void readHead() {
        if (state == IDLE) {
            enter(READING_HEAD);
        }
    }

    private void handle(Exchange exchange, int length, Buffer data) {
        enter(ExchangeState.HANDLING);
        exchange.begin(this, data, length);
        Promise<?> promise = context.done;
        Throwable failure = null;
        try {
            promise = context.server.dispatcher.dispatch(exchange, null);
        } catch (Throwable e) {
            failure = e;
            exchange.completion.fail(e);
        }
        exchange.handlerReturned(promise);
        data.skip(length + exchange.prefetched());
        if (upgrade != null && state == ExchangeState.RESPONDING) {
            context.handOut(exchange);
            handOver(exchange);
        } else if (exchange.response.isComplete() && exchange.body() == null) {
            if (promise != context.done || failure != null || exchange.mayBeHeld()) {
                context.handOut(exchange); // Its handler may still run.
            }
            end(exchange);
        } else {
            context.handOut(exchange);
            exchange.head.keep();
            open = exchange;
            if (failure == null) {
                exchange.completion.handled(promise);
            }
            if (exchange.response.isComplete()) {
                nextBehindBody(exchange);
            }
            if (open == exchange) {
                takeBody(exchange, data);
            }
        }
    }

    void resumeIfOpen() {
        if (stream.isOpen()) {
            stream.resume();
        }
    }

    /// Sends an error for input that is not a request, and closes. Its head may be partly parsed.
    private void reject(ParseError reason, @Nullable RequestHead head) {
        closes = true;
        context.reject(this, reason, head);
    }

    /// Closes a connection without an exchange. A client that has sent a part of a head gets an
    /// error.
    void giveUp(ParseError why) {
        if (state == READING_HEAD && output.hasRoom()) {
            reject(why, null);
        }
        closeNow();
    }

    private void takeBody(Exchange exchange, Buffer data) {
        RequestBody body = exchange.body();
        if (body != null && body.isWanted()) {
            body.take(data);
            if (open == exchange) {
                timeouts.bodyOrWork(body);
            }
        }
    }

    /// Called when the handler starts to read the body, or resumes.
    void bodyWanted(Exchange exchange) {
        exchange.sendContinue(this);
        if (open == exchange) {
            timeouts.bodyOrWork(exchange.body());
            stream.resume();
        }
    }

    /// Called when the body is malformed, too long or too slow.
    void failBody(HttpException reason) {
        closes = true;
        if (open != null) {
            open.failBody(reason);
        }
    }

    /// Stops reading the body. The connection closes after the response.
    void giveUpBody() {
        closes = true;
        nextIfResponded();
    }

    void nextIfResponded() {
        if (open != null && open.response.isComplete()) {
            next(open);
        }
    }

    /// Returns whether this is the last response of the connection.
    boolean closesAfter(Exchange exchange) {
        closes |= !exchange.head.keepsAlive() || context.server.isDraining();
        closes |= exchange.leavesTooMuch();
        return closes;
    }

    void responded(Exchange exchange, boolean closes) {
        enter(ExchangeState.RESPONDED);
        this.closes |= closes;
        exchange.response.ended();
        if (open == exchange) {
            nextBehindBody(exchange);
        }
        flushUnlessServing();
    }

    /// Ends an exchange once the rest of its request body is dropped.
    private void nextBehindBody(Exchange exchange) {
        RequestBody body = exchange.body();
        if (body == null || body.isEnded() || closes) {
            next(exchange);
        } else {
            body.drop();
            timeouts.bodyOrWork(body);
            if (!serving) {
                stream.resume();
            }
        }
    }

    /// Ends an exchange whose handler has returned. Waits for the next request or closes.
    private void next(Exchange exchange) {
        end(exchange);
        if (closes || inputEnded || context.server.isDraining()) {
            closeNow();
        } else if (!serving) {
            resumeIfOpen();
        }
    }

    private void end(Exchange exchange) {
        open = null;
        events = null;
        exchange.end();
        if (!state.isClosed()) {
            enter(IDLE);
        }
    }

    /// Closes once pending output is sent. An exchange in progress is lost.
    void closeNow() {
        context.flush();
        timeouts.limitLinger();
        stream.close(timeouts.closeReason());
        connectionLost(CLOSING, open);
    }

    /// Truncates a response. Earlier responses and its written bytes are delivered. The missing end
    /// shows the client that it is incomplete. If the connection's end delimits it, the connection
    /// is reset instead.
    void truncate(Exchange exchange) {
        closes = true;
        open = exchange;
        if (exchange.response.endsWithConnection()) {
            CloseReason reason = timeouts.closeReason();
            stream.abort(reason == CloseReason.CLOSED ? CloseReason.ABORTED : reason);
            connectionLost(CLOSING, exchange);
        } else {
            closeNow();
        }
    }

    /// Enters CLOSING or CLOSED. An exchange in progress is lost.
    void connectionLost(ExchangeState next, @Nullable Exchange exchange) {
        ExchangeState before = state;
        if (next == ExchangeState.CLOSED || !before.isClosed()) {
            enter(next);
        }
        unread.note(0);
        open = null;
        if (exchange != null && !before.isClosed()) {
            CloseReason reason = stream.closeReason();
            exchange.connectionLost(reason == null ? timeouts.closeReason() : reason, before);
        }
    }

    void flushUnlessServing() {
        if (!serving) {
            context.flush();
        }
    }

    void isEventStream(ServerResponseStream events) {
        this.events = events;
        if (context.server.isDraining() || inputEnded) {
            context.loop.microtask(events::finish);
        }
    }

    /// Hands the stream to another protocol: now, or when the handler has returned.
    void upgrade(Exchange exchange, Consumer<Stream> takeOver) {
        upgrade = takeOver;
        if (open == exchange) {
            handOver(exchange);
        }
    }

    private void handOver(Exchange exchange) {
        Consumer<Stream> takeOver = Objects.requireNonNull(upgrade);
        enter(UPGRADED);
        output.watchAlways();
        unread.note(0);
        open = null;
        exchange.response.ended();
        // First, because its callback reads the request, and a drain waits for one of both.
        takeOver.accept(stream);
        exchange.end();
        context.server.forget(this);
        stream.resume();
    }

    /// Drains: closes the connection once all its responses are complete.
    void drain() {
        ServerResponseStream known = events;
        if (known != null) {
            UserCallbacks.guarded(known::finish, known.response.exchange);
        } else if (!stream.isOpen()) {
            timeouts.limitLinger();
        } else if (state == IDLE) {
            closeNow();
        }
    }

    /// Returns whether a request has begun to arrive and the kernel does not have its response yet.
    boolean isBusy() {
        return stream.pending() > 0 || (stream.isOpen() && state != IDLE);
    }

    @Override
    public boolean beforeMove(Stream stream, EventLoop target) {
        return context.server.handOver(this, target);
    }

    @Override
    public String describe(Stream stream) {
        return ConnectionActivity.describe(this, open);
    }

    @Override
    public void onWritable(Stream stream) {
        output.writable();
        if (open != null) {
            open.response.writable();
        }
    }

    /// The client has ended its side, and may still wait for responses.
    @Override
    public void onEnd(Stream stream) {
        inputEnded = true;
        Exchange known = open;
        if (known != null && !known.isBodyUnfinished()) {
            notifyOfEnd(known);
        } else if (known != null && known.failBodyAtEnd()) {
            closes = true; // The client may read the rest of the response.
        } else {
            closeNow();
        }
    }

    /// The client has ended its side behind pipelined requests. They are served before the close.
    @Override
    public void onEndPending(Stream stream) {
        inputEndPending = true;
        notifyOfPendingEnd();
    }

    private void notifyOfPendingEnd() {
        Exchange known = open;
        // The rest of an unfinished body may be a part of the unread input.
        if (inputEndPending && known != null && !known.isBodyUnfinished()) {
            notifyOfEnd(known);
        }
    }

    private void notifyOfEnd(Exchange exchange) {
        if (events != null) {
            closeNow(); // A client that reads events ends its side only to leave.
        } else {
            exchange.clientEnded();
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        output.cancel();
        context.server.forget(this);
        connectionLost(ExchangeState.CLOSED, open);
    }
}
