package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.http.Attribute;
import dev.gyre.http.Body;
import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.RequestHead;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/// A request and its answer.
///
/// It is reused for successive requests while handlers respond at once. The handles that handlers
/// hold ([ServerRequest], [ServerResponse], [RequestHeaders], [NoBody]) store their generation.
///
/// Loop thread only, but for what [ServerRequest] and [ServerResponse] say.
final class Exchange {
    final Workbench bench;
    final RequestHead head;
    final ResponseState response;
    final Outcome outcome;

    private @Nullable HttpConnection connection;
    private @Nullable RequestBody body;
    private @Nullable NoBody noBody;
    private boolean saidContinue;

    /// How many requests it has served, so that what belongs to an earlier one is told from this one's.
    private int generation;

    /// Whether the connection was closed before the answer was complete.
    private boolean lost;

    /// Whether those are being told who wait for the end of it: they may still read the request.
    private boolean losing;

    /// Who is to hear that the peer has left; null as long as nobody asked, and the peer is there.
    private @Nullable Interest interest;

    /// Attributes set by middleware; `null` until the first.
    @Nullable Map<Attribute<?>, Object> attributes;

    /// The running blocking handler; `null` for other handlers. Read by any thread that holds the
    /// request. Such an exchange is never reused, so this is set once; volatile, so that a thread
    /// which sees it also sees the generation it belongs to.
    private volatile @Nullable BlockingCall call;

    List<String> parameters = List.of();
    List<String> values = List.of();

    Exchange(Workbench bench, RequestHead head) {
        this.bench = bench;
        this.head = head;
        response = new ResponseState(this);
        outcome = new Outcome(this);
    }

    void begin(HttpConnection connection) {
        this.connection = connection;
        generation++;
        outcome.reset();
        lost = false;
        saidContinue = false;
        interest = null;
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

    /// Whether the request of that generation is in progress, or was when its connection was lost.
    boolean isLive(int generation) {
        return generation == this.generation && connection != null;
    }

    /// @throws IllegalStateException if the request of that generation has ended
    void requireLive(int generation) {
        if (!isLive(generation)) {
            throw over();
        }
    }

    /// The connection of the request of that generation.
    ///
    /// @throws IllegalStateException if it has ended
    HttpConnection connection(int generation) {
        requireLive(generation);
        return connection();
    }

    /// Whose request it is.
    ///
    /// @throws IllegalStateException if it is over
    HttpConnection connection() {
        HttpConnection known = connection;
        if (known == null || (lost && !losing)) {
            throw over();
        }
        return known;
    }

    private static IllegalStateException over() {
        return new IllegalStateException(
                "this request has ended: its response is complete, or its connection closed. Do not"
                        + " keep a Request or Response beyond that: use response.onDone for work"
                        + " after the response, and copy values that are needed later");
    }

    /// Whether the request of that generation is no longer readable.
    boolean isForgotten(int generation) {
        return !isLive(generation) || (lost && !losing);
    }

    boolean isOver() {
        return connection == null || lost;
    }

    /// The connection is gone, and what is answered is swallowed.
    void lose(CloseReason reason) {
        if (lost) {
            return;
        }
        losing = true;
        try {
            letKnow(reason);
        } finally {
            losing = false;
        }
    }

    private void letKnow(CloseReason reason) {
        RequestBody unread = body;
        boolean complete = response.isComplete();
        if (!complete && reason == CloseReason.OUTPUT_LIMIT && response.isStreamed()) {
            outcome.warnOfOutputLimit();
        }
        lost = true;
        body = null;
        response.lost();
        if (unread != null) {
            unread.fail(new HttpException(400, "the connection was closed: " + reason));
        }
        if (!complete) {
            response.tellDone();
            BlockingCall handler = call;
            if (handler != null) {
                letGoOf(handler, reason);
            }
            if (interest != null) {
                interest.lost(reason);
            }
        }
        if (unread != null) {
            unread.letGo();
        }
    }

    private static void letGoOf(BlockingCall handler, CloseReason reason) {
        if (reason == CloseReason.ABORTED || reason == CloseReason.LOOP_ENDED) {
            handler.interrupt();
        } else {
            handler.cancel();
        }
    }

    /// Whether the connection has been closed under the answer, as by what was just written: the protocol of a stream hears of
    /// that only when the callback that wrote is over. What waits for the end of the answer has been told then.
    boolean isTornOff() {
        HttpConnection known = connection;
        if (known != null && !lost && !known.stream().isOpen()) {
            CloseReason reason = known.stream().closeReason();
            lose(reason == null ? CloseReason.CLOSED : reason);
        }
        return lost;
    }

    private void letGoOfContent() {
        RequestBody known = body;
        if (known != null) {
            known.abandon();
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

    // ------------------------------------------------------------------ peers that leave

    private Interest interest() {
        Interest known = interest;
        if (known == null) {
            known = new Interest(this);
            interest = known;
        }
        return known;
    }

    /// Is cancelled when nobody waits for the answer any more.
    Cancellation cancellation(int generation) {
        requireLive(generation);
        return interest().cancellation();
    }

    /// The peer has ended its side, and the answer is still to come: it may wait for that, or have left.
    void peerEnded() {
        if (!response.isComplete()) {
            interest().ended();
        }
    }

    /// Whether this says no more than that the peer has ended its side.
    boolean isPeersEnd(Throwable cause) {
        Interest known = interest;
        return known != null && known.isReason(cause);
    }

    /// Whether its thread was interrupted by the server. Any thread that has the request.
    boolean isInterrupted() {
        BlockingCall handler = call;
        return handler != null && handler.isInterrupted();
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

    /// A blocking handler has returned, and nobody is left who would end what it has begun.
    void endIfLeftOpen(BlockingCall handler) {
        if (call == handler && !isOver() && response.isLeftOpen()) {
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING,
                    "the blocking handler of "
                            + handler.route()
                            + " has returned and not ended its content, which is cut off: call"
                            + " end() before");
            connection().cutOff(this);
        }
    }

    /// Whether its handler waits for the peer may be another thing now.
    void recount() {
        BlockingCall known = call;
        if (known != null) {
            RequestBody content = body;
            known.count((content == null || !content.isAwaited()) && !response.isWaitingForRoom());
        }
    }

    // ------------------------------------------------------------------ content

    /// The content; null if there is none.
    @Nullable RequestBody body() {
        return body;
    }

    /// The content for its handler, also if there is none.
    Body content() {
        if (lost) {
            throw over();
        }
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

    /// Says how many bytes of content there may be.
    ///
    /// @throws HttpException 413 if more are announced
    void limitBody(long bytes) {
        RequestBody known = body;
        if (known != null) {
            known.limit(bytes);
        }
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
                && (waitsForContinue()
                        || known.isTooLong()
                        || (!known.isBegun() && !known.isWorthDropping()));
    }

    /// Asks for content that is held back.
    void sayContinue(HttpConnection connection) {
        if (waitsForContinue() && !response.isAnswered()) {
            saidContinue = true;
            bench.out(connection, Lines.CONTINUE.length).put(Lines.CONTINUE);
            connection.flushUnlessServing();
        }
    }

    /// The path as it was sent.
    String rawPath() {
        return head.isPathLeftOut() ? "/" : head.text(head.targetAt(), head.pathEnd());
    }

    void noteFound(Site site, List<String> values) {
        parameters = site.parameters;
        this.values = values;
    }

    /// The content is no HTTP, too long or too slow: answers so, unless something else was answered already.
    void failContent(HttpException reason) {
        HttpConnection known = connection();
        RequestBody unread = body;
        if (unread != null) {
            unread.fail(reason);
        }
        if (!response.isAnswered()) {
            outcome.fail(reason);
        } else if (response.isWhole() || unread == null || unread.isFailureHeard()) {
            known.giveUpBody();
        } else {
            known.cutOff(this);
        }
    }

    /// It is answered and all of it was read, or its connection is gone.
    void end() {
        letGoOfContent();
        attributes = null;
        if (interest != null) {
            interest.over();
        }
        if (!lost) {
            connection = null;
        }
        body = null;
    }
}
