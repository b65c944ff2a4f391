package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
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

    private static final int REFUSAL_ROOM = 1_024;

    private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);

    private final Workbench bench;
    private final Stream stream;
    private final Deadline deadline;

    /// The request that was not answered at once.
    private @Nullable Exchange open;

    private @Nullable EventStream events;
    private @Nullable Consumer<Stream> upgrade;
    private boolean serving;
    private boolean room = true;
    private boolean closes;
    private boolean ended;
    private boolean saidContinue;
    private Phase phase = Phase.IDLE;

    private enum Phase {
        /// Nothing of a request has arrived.
        IDLE,
        /// A part of a head has.
        HEAD,
        /// Content is waited for.
        BODY,
        /// Somebody works on an answer.
        WORK
    }

    HttpConnection(Workbench bench, Stream stream) {
        this.bench = bench;
        this.stream = stream;
        deadline = new Deadline(bench.loop, this::timePassed);
        enter(Phase.IDLE, bench.config.idleTimeout().toNanos());
    }

    Stream stream() {
        return stream;
    }

    Workbench bench() {
        return bench;
    }

    EventLoop loop() {
        return bench.loop;
    }

    // ------------------------------------------------------------------ what arrives

    @Override
    public void onData(Stream stream, Buffer data) {
        Exchange known = open;
        if (known != null) {
            takeBody(known, data);
            if (open != null) {
                if (data.readable() > 0 && !isBodyWanted()) {
                    stream.pause();
                }
                return;
            }
        }
        serve(data);
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
                Exchange exchange = bench.spare();
                int length = exchange.head.parse(data);
                if (length <= 0) {
                    if (length < 0) {
                        refuse(exchange.head.refusal());
                    }
                    break;
                }
                handle(exchange, length, data);
                if (upgrade != null) {
                    return;
                }
                if (open != null) {
                    if (data.readable() > 0) {
                        stream.pause();
                    }
                    return;
                }
            }
            if (closes) {
                closeNow();
            } else if (data.readable() == 0) {
                enter(Phase.IDLE, bench.server.idleNanos());
            } else if (phase != Phase.HEAD) {
                enter(Phase.HEAD, bench.config.headTimeout().toNanos());
            }
        } finally {
            serving = false;
            bench.flush();
        }
    }

    private void handle(Exchange exchange, int length, Buffer data) {
        phase = Phase.WORK;
        saidContinue = false;
        exchange.begin(this);
        RequestBody body = exchange.body();
        Promise<?> promise = bench.done;
        Throwable failure = null;
        try {
            if (exchange.head.contentLength() > bench.config.maxBody()) {
                throw new HttpException(
                        413, "the content has more than " + bench.config.maxBody() + " bytes");
            }
            promise = bench.server.answer(exchange);
        } catch (Exception | StackOverflowError | AssertionError e) {
            failure = e;
        }
        if (failure != null) {
            exchange.fail(failure);
        }
        if (upgrade != null) {
            data.skip(length);
            handOver(exchange);
            return;
        }
        if (exchange.response.isComplete() && body == null) {
            data.skip(length);
            exchange.end();
            return;
        }
        bench.give(exchange);
        exchange.head.keep(bench.loop);
        data.skip(length);
        open = exchange;
        if (failure == null) {
            exchange.handled(promise);
        }
        if (exchange.response.isComplete()) {
            answeredBeforeItsContent(exchange);
        }
        if (open == exchange) {
            takeBody(exchange, data);
        }
        if (open == exchange) {
            waitForBodyOrWork(exchange);
        }
    }

    private void yieldToOthers() {
        stream.pause();
        bench.loop.defer(
                () -> {
                    if (stream.isOpen()) {
                        stream.resume();
                    }
                });
    }

    /// Answers what is no request, and says that it is the last answer.
    private void refuse(Refusal refusal) {
        closes = true;
        Buffer out = bench.out(this, REFUSAL_ROOM);
        bench.preamble.put(refusal.status(), out);
        out.put("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: ");
        Numbers.putDecimal(out, refusal.reason().length() + 1);
        out.put("\r\n\r\n").put(refusal.reason()).put("\n");
    }

    // ------------------------------------------------------------------ content

    private void takeBody(Exchange exchange, Buffer data) {
        RequestBody body = exchange.body();
        if (body == null || !body.isWanted()) {
            return;
        }
        try {
            body.take(data);
        } catch (RuntimeException | StackOverflowError | AssertionError e) {
            exchange.fail(e);
            giveUpBody();
        }
        if (open == exchange && !body.isEnded()) {
            waitForBodyOrWork(exchange);
        }
    }

    private boolean isBodyWanted() {
        Exchange known = open;
        RequestBody body = known == null ? null : known.body();
        return body != null && body.isWanted();
    }

    private void waitForBodyOrWork(Exchange exchange) {
        RequestBody body = exchange.body();
        if (body == null || !body.isWanted()) {
            phase = Phase.WORK;
            deadline.never();
        } else {
            // Each byte buys time, so that much may take long, but not a little.
            long earned =
                    body.received() * TimeUnit.SECONDS.toNanos(1) / bench.config.leastBodyRate();
            if (phase != Phase.BODY) {
                enter(Phase.BODY, bench.config.bodyTimeout().toNanos());
                bodySince = bench.loop.nanoTime();
            } else {
                long spent = bench.loop.nanoTime() - bodySince;
                deadline.in(
                        Math.max(0, bench.config.bodyTimeout().toNanos() + earned - spent));
            }
        }
    }

    private long bodySince;

    /// Somebody has begun to read the content, or goes on.
    void bodyWanted() {
        Exchange known = open;
        if (known != null) {
            sayContinue(known);
            waitForBodyOrWork(known);
            stream.resume();
        } else {
            // Within the handler, before it is known whether it answers at once.
            sayContinue(bench.spare());
        }
    }

    private void sayContinue(Exchange exchange) {
        if (exchange.head.expectsContinue() && !saidContinue && !exchange.response.isAnswered()) {
            saidContinue = true;
            bench.out(this, CONTINUE.length).put(CONTINUE);
            flushUnlessServing();
        }
    }

    void bodyEnded() {
        Exchange known = open;
        if (known != null && known.response.isComplete()) {
            next(known);
        }
    }

    /// The content is no HTTP, too long or too slow.
    void failBody(HttpException reason) {
        Exchange known = open;
        closes = true;
        if (known == null) {
            return;
        }
        RequestBody body = known.body();
        if (body != null) {
            body.fail(reason);
        }
        if (known.response.isAnswered()) {
            giveUpBody();
        } else {
            known.fail(reason);
        }
    }

    /// What is left of the content is not read any more: the connection has no use after the answer.
    void giveUpBody() {
        closes = true;
        Exchange known = open;
        if (known != null && known.response.isComplete()) {
            next(known);
        }
    }

    // ------------------------------------------------------------------ answers

    /// Whether this is the last answer here.
    boolean closesAfter(Exchange exchange) {
        RequestBody body = exchange.body();
        boolean unread = body != null && !body.isEnded();
        closes |=
                !exchange.head.keepsAlive()
                        || bench.server.isDraining()
                        || unread && !body.isBegun() && !body.isWorthDropping()
                        // Nobody knows whether the content will come.
                        || unread && exchange.head.expectsContinue() && !saidContinue;
        return closes;
    }

    /// An answer is complete.
    void answered(Exchange exchange, boolean closes) {
        this.closes |= closes;
        exchange.response.tellDone();
        if (open == exchange) {
            RequestBody body = exchange.body();
            if (body != null && !body.isEnded()) {
                answeredBeforeItsContent(exchange);
            } else {
                next(exchange);
            }
        }
        flushUnlessServing();
    }

    private void answeredBeforeItsContent(Exchange exchange) {
        RequestBody body = exchange.body();
        if (body == null || body.isEnded() || closes) {
            next(exchange);
        } else {
            body.drop();
            waitForBodyOrWork(exchange);
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
        bench.takeBack(exchange.head);
        if (closes || ended) {
            closeNow();
        } else {
            enter(Phase.IDLE, bench.server.idleNanos());
            if (!serving) {
                stream.resume();
            }
        }
    }

    private void closeNow() {
        bench.flush();
        deadline.cancel();
        stream.close();
    }

    /// Cuts an answer off.
    void abort() {
        stream.abort();
    }

    void write(byte[] content) {
        if (stream.isOpen()) {
            noteRoom(stream.write(content));
        }
    }

    void noteRoom(boolean goOn) {
        room &= goOn;
    }

    boolean hasRoom() {
        return room && stream.isOpen();
    }

    /// Within [#serve] everything is flushed at its end.
    void flushUnlessServing() {
        if (!serving) {
            bench.flush();
        }
    }

    boolean takesTrailers() {
        Exchange known = open;
        return known != null && known.head.lists("TE", "trailers");
    }

    // ------------------------------------------------------------------ events, other protocols, the end

    void isEventStream(EventStream events) {
        this.events = events;
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
        deadline.cancel();
        open = null;
        exchange.response.upgraded();
        exchange.end();
        // Before this is forgotten: a server that is ending waits for one or the other.
        takeOver.accept(stream);
        bench.server.forget(this);
        stream.resume();
    }

    /// The server is to end: closes as soon as what was asked is answered.
    void drain() {
        closes = true;
        EventStream known = events;
        if (known != null) {
            known.close();
        } else if (open == null && phase == Phase.IDLE) {
            closeNow();
        }
    }

    @Override
    public void onWritable(Stream stream) {
        room = true;
        Exchange known = open;
        ServerStream current = known == null ? null : known.response.currentStream();
        if (current != null) {
            current.writable();
        }
    }

    @Override
    public void onEnd(Stream stream) {
        ended = true;
        Exchange known = open;
        if (known == null) {
            stream.close();
            return;
        }
        RequestBody body = known.body();
        if (body != null && !body.isEnded()) {
            body.fail(new HttpException(400, "the connection ended before the content did"));
            stream.close();
        } else if (events != null) {
            // Who reads events has no reason to end its side but to leave.
            stream.close();
        }
    }

    @Override
    public void onClose(Stream stream, CloseReason reason) {
        deadline.cancel();
        bench.server.forget(this);
        Exchange known = open;
        open = null;
        if (known != null) {
            RequestBody body = known.body();
            if (body != null) {
                body.fail(new HttpException(400, "the connection was closed: " + reason));
            }
            boolean complete = known.response.isComplete();
            known.response.lost();
            if (!complete) {
                known.response.tellDone();
            }
            known.end();
            bench.takeBack(known.head);
        }
    }

    // ------------------------------------------------------------------ time

    private void enter(Phase phase, long nanos) {
        this.phase = phase;
        deadline.in(nanos);
    }

    private void timePassed() {
        switch (phase) {
            case IDLE -> stream.close();
            case HEAD -> {
                refuse(Refusal.HEAD_TOO_SLOW);
                bench.flush();
                stream.close();
            }
            case BODY -> failBody(new HttpException(408, "the content comes too slowly"));
            case WORK -> {}
        }
    }
}
