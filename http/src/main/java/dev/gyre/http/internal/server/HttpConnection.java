package dev.gyre.http.internal.server;

import dev.gyre.Promise;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// A connection: requests one after the other, each answered before the next is looked at.
///
/// ```
///            a whole head                answer not given at once
///     IDLE ───────────────▶ serving ──────────────────────────────▶ an exchange is open
///      ▲ ◀────────────────────┘ answered                                  │
///      └──────────────── answered, and its content read ──────────────────┘
/// ```
///
/// What arrives meanwhile stays unread with the stream, which is paused as soon as there is any.
///
/// Loop thread only.
final class HttpConnection implements Protocol {
    /// After so many requests in a row others have their turn.
    private static final int MOST_IN_A_ROW = 64;

    final Workbench bench;
    private final Stream stream;
    final Pace pace;
    final Outflow out;
    private final UnreadInput.Kept unread;
    private final HalfClose halfClose;

    /// The request that was not answered at once.
    private @Nullable Exchange open;

    private @Nullable ServerStream events;
    private @Nullable Consumer<Stream> upgrade;
    private boolean serving;
    private boolean closes;

    HttpConnection(Workbench bench, Stream stream) {
        this.bench = bench;
        this.stream = stream;
        pace = new Pace(bench, this);
        out = new Outflow(bench, stream);
        unread = bench.unread.of(this);
        halfClose = new HalfClose(this);
    }

    Stream stream() {
        return stream;
    }

    /// The request that is not answered yet; null if there is none.
    @Nullable Exchange open() {
        return open;
    }

    // ------------------------------------------------------------------ what arrives

    @Override
    public void onData(Stream stream, Buffer data) {
        receive(data);
        // Of a stream that is closed, or another protocol's, nothing is left here.
        unread.note(stream.isOpen() && upgrade == null ? data.readable() : 0);
    }

    private void receive(Buffer data) {
        Exchange known = open;
        if (known != null) {
            takeBody(known, data);
            if (open != null) {
                pauseIfAhead(data);
                return;
            }
        }
        serve(data);
    }

    /// What was sent ahead waits until the answer before it is complete.
    private void pauseIfAhead(Buffer data) {
        Exchange known = open;
        if (data.readable() > 0 && (known == null || !known.isBodyWanted())) {
            if (unread.isGivenUp()) {
                data.clear();
            }
            stream.pause();
            halfClose.notifyIfPending();
        }
    }

    /// Answers what has arrived, as far as that is possible at once.
    private void serve(Buffer data) {
        serving = true;
        try {
            for (int served = 0; data.readable() > 0 && !closes; served++) {
                if (served == MOST_IN_A_ROW) {
                    yieldToOthers();
                    return;
                }
                if (!out.hasRoom()) {
                    // A peer that does not take its answers has no more of them yet.
                    pace.work();
                    return;
                }
                Exchange exchange = bench.spare();
                int length = exchange.head.parse(data);
                if (length > 0 && exchange.head.isHttps() && stream.tls() == null) {
                    length = exchange.head.refuse(Refusal.MISDIRECTED); // RFC 9110, 7.4.
                }
                if (length <= 0) {
                    if (length < 0) {
                        refuse(exchange.head.refusal(), exchange.head);
                    }
                    break;
                }
                handle(exchange, length, data);
                if (upgrade != null) {
                    return;
                }
                if (open != null) {
                    pauseIfAhead(data);
                    return;
                }
            }
            if (closes) {
                closeNow();
            } else if (data.readable() == 0) {
                pace.idle();
            } else {
                pace.head();
            }
        } finally {
            serving = false;
            bench.flush();
        }
    }

    private void handle(Exchange exchange, int length, Buffer data) {
        pace.request();
        exchange.begin(this);
        RequestBody body = exchange.body();
        Promise<?> promise = bench.done;
        Throwable failure = null;
        try {
            promise = bench.server.answer(exchange, null);
        } catch (Throwable e) {
            failure = e;
            exchange.outcome.fail(e);
        }
        if (upgrade != null) {
            bench.give(exchange);
            data.skip(length);
            handOver(exchange);
            return;
        }
        if (exchange.response.isComplete() && body == null) {
            if (promise != bench.done || failure != null || exchange.isLost()) {
                bench.give(exchange); // What is under way still is to meet nobody else here.
            }
            data.skip(length);
            events = null;
            exchange.end();
            return;
        }
        bench.give(exchange);
        exchange.head.keep();
        data.skip(length);
        open = exchange;
        if (failure == null) {
            exchange.outcome.handled(promise);
        }
        if (exchange.response.isComplete()) {
            nextBehindContent(exchange);
        }
        if (open == exchange) {
            takeBody(exchange, data);
        }
        if (open == exchange) {
            pace.bodyOrWork(exchange.body());
        }
    }

    private void yieldToOthers() {
        stream.pause();
        bench.loop.defer(this::resumeIfOpen);
    }

    void resumeIfOpen() {
        if (stream.isOpen()) {
            stream.resume();
        }
    }

    /// Answers what is no request.
    ///
    /// @param head what was made of it; null if nothing was
    private void refuse(Refusal refusal, @Nullable RequestHead head) {
        closes = true;
        bench.preamble.putRefusal(refusal, bench.out(this, Preamble.REFUSAL_BYTES));
        bench.server.refused(stream.peer(), refusal, head);
    }

    /// Nothing comes of what has arrived so far, because of us or of the peer.
    void giveUp(Refusal why) {
        if (pace.phase() == Pace.Phase.HEAD) {
            refuse(why, null);
        }
        closeNow();
    }

    // ------------------------------------------------------------------ content

    private void takeBody(Exchange exchange, Buffer data) {
        RequestBody body = exchange.body();
        if (body == null || !body.isWanted()) {
            return;
        }
        body.take(data);
        if (open == exchange && !body.isEnded()) {
            pace.bodyOrWork(exchange.body());
        }
    }

    /// Somebody has begun to read the content, or goes on.
    void bodyWanted(Exchange exchange) {
        if (open == exchange) {
            exchange.sayContinue(this);
            pace.bodyOrWork(exchange.body());
            stream.resume();
        } else if (open == null && serving) {
            // Within the handler, before it is known whether it answers at once.
            exchange.sayContinue(this);
        }
    }

    /// The content is no HTTP, too long or too slow.
    void failBody(HttpException reason) {
        Exchange known = open;
        closes = true;
        if (known != null) {
            known.failContent(reason);
        }
    }

    /// What is left of the content is not read any more: the connection has no use after the answer.
    void giveUpBody() {
        closes = true;
        nextIfAnswered();
    }

    void nextIfAnswered() {
        Exchange known = open;
        if (known != null && known.response.isComplete()) {
            next(known);
        }
    }

    // ------------------------------------------------------------------ answers

    /// Whether this is the last answer here.
    boolean closesAfter(Exchange exchange) {
        closes |= !exchange.head.keepsAlive() || bench.server.isDraining();
        closes |= exchange.leavesTooMuch();
        return closes;
    }

    /// The response in progress is the last one.
    void closeBehindResponse() {
        closes = true;
    }

    /// An answer is complete.
    void answered(Exchange exchange, boolean closes) {
        this.closes |= closes;
        exchange.response.tellDone();
        if (open == exchange) {
            nextBehindContent(exchange);
        }
        flushUnlessServing();
    }

    /// What is left of its content comes first, to be dropped.
    private void nextBehindContent(Exchange exchange) {
        RequestBody body = exchange.body();
        if (body == null || body.isEnded() || closes) {
            next(exchange);
        } else {
            body.drop();
            pace.bodyOrWork(exchange.body());
            if (!serving) {
                stream.resume();
            }
        }
    }

    /// An exchange that was open is over.
    private void next(Exchange exchange) {
        open = null;
        events = null;
        exchange.end();
        if (closes || halfClose.isReceived() || bench.server.isDraining()) {
            closeNow();
        } else {
            pace.idle();
            if (!serving) {
                stream.resume();
            }
        }
    }

    void closeNow() {
        bench.flush();
        if (bench.server.isDraining()) {
            stream.lingerAtMost(Pace.CROSSING);
        }
        pace.cancel();
        unread.note(0);
        stream.close(pace.closeReason());
    }

    /// Cuts an answer off. Those before it arrive, and what there is of it: the missing end tells that this was not
    /// all. Where the end of the connection is that of the answer, only a reset is none.
    void cutOff(Exchange exchange) {
        closes = true;
        if (exchange.response.endsWithConnection()) {
            CloseReason reason = pace.closeReason();
            stream.abort(reason == CloseReason.CLOSED ? CloseReason.ABORTED : reason);
        } else {
            closeNow();
        }
    }

    /// Within [#serve] everything is flushed at its end.
    void flushUnlessServing() {
        if (!serving) {
            bench.flush();
        }
    }

    // ------------------------------------------------------------------ events, upgrades, the end

    void isEventStream(ServerStream events) {
        this.events = events;
        if (bench.server.isDraining() || halfClose.isReceived()) {
            bench.loop.microtask(events::finish);
        }
    }

    /// Whether the response in progress is a stream of events.
    boolean isEventStream() {
        return events != null;
    }

    /// Another protocol is to take over: at once, or, within the handler, when its request was taken.
    void upgrade(Exchange exchange, Consumer<Stream> takeOver) {
        upgrade = takeOver;
        if (open == exchange) {
            handOver(exchange);
        }
    }

    private void handOver(Exchange exchange) {
        Consumer<Stream> takeOver = Objects.requireNonNull(upgrade);
        pace.cancel();
        out.watchForGood();
        unread.note(0);
        open = null;
        exchange.response.upgraded();
        // First: a server that ends waits for either, and the request says who came.
        takeOver.accept(stream);
        exchange.end();
        bench.server.forget(this);
        stream.resume();
    }

    /// The server is to end: closes as soon as what was asked is answered.
    void drain() {
        ServerStream known = events;
        if (known != null) {
            UserCallbacks.guarded(known::finish);
        } else if (!stream.isOpen()) {
            stream.lingerAtMost(Pace.CROSSING);
        } else if (open == null && pace.phase() == Pace.Phase.IDLE) {
            closeNow();
        }
    }

    /// Whether something was asked here, or has begun to be, and the answer is not with the kernel yet.
    boolean isBusy() {
        return stream.pending() > 0 || (stream.isOpen() && pace.phase() != Pace.Phase.IDLE);
    }

    @Override
    public void onWritable(Stream stream) {
        out.writable();
        Exchange known = open;
        if (known != null) {
            known.response.writable();
        }
    }

    @Override
    public void onEnd(Stream stream) {
        halfClose.receive();
    }

    @Override
    public void onEndPending(Stream stream) {
        halfClose.receivePending();
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        pace.cancel();
        out.cancel();
        unread.note(0);
        bench.server.forget(this);
        Exchange known = open;
        open = null;
        if (known != null) {
            known.lose(reason);
        }
    }
}
