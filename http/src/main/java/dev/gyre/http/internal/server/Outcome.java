package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.HttpException;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;
import java.util.function.Predicate;

/// How a request's handler does: whether it answers, and what is answered in its place if it fails.
///
/// Loop thread only.
final class Outcome {
    private static final int MOST_CAUSES = 16;

    private final Exchange exchange;

    /// Whether an error is answered for it, which may take its time.
    private boolean failed;

    /// Whether the promise of its handler is settled.
    private boolean settled;

    Outcome(Exchange exchange) {
        this.exchange = exchange;
    }

    void reset() {
        failed = false;
        settled = false;
    }

    /// Whether nothing more comes of its handler, but for what that has left behind.
    boolean isSettled() {
        return settled;
    }

    /// What a handler has returned, or what stands for nothing.
    ///
    /// @throws IllegalStateException if it is nothing, and there is no answer either
    Promise<?> returned(@Nullable Promise<?> promise) {
        if (promise != null) {
            return promise;
        }
        if (!exchange.isOver() && !exchange.response.isAnswered()) {
            throw new IllegalStateException(
                    "the handler of "
                            + describe()
                            + " has returned null, and has not answered: return what"
                            + " response.text(…) or another answer returned, or a promise");
        }
        return exchange.bench.done;
    }

    /// Called when the handler has returned. Waits for its promise unless that is settled.
    void handled(Promise<?> promise) {
        if (promise == exchange.bench.done && exchange.response.isAnswered()) {
            settled = true;
            return;
        }
        int mine = exchange.generation();
        follow(
                promise,
                () -> {
                    settled |= mine == exchange.generation();
                    if (exchange.isCurrent(mine) && !exchange.response.isAnswered()) {
                        fail(unanswered("handler"));
                    }
                },
                failure -> {
                    if (mine == exchange.generation()) {
                        fail(failure);
                    }
                });
    }

    /// Waits for a promise. If it resolves to another promise, waits for that one. So `then` and
    /// `thenCompose` are equivalent at the end of a handler's chain.
    private void follow(
            Promise<?> promise, Runnable onResolved, Consumer<? super Throwable> onRejected) {
        follow(promise, promise, 1, onResolved, onRejected);
    }

    /// @param mark an earlier promise of the chain, advanced at each power of two, to detect cycles
    @SuppressWarnings("ReferenceEquality") // A promise is only itself.
    private void follow(
            Promise<?> promise,
            Promise<?> mark,
            int step,
            Runnable onResolved,
            Consumer<? super Throwable> onRejected) {
        onThisLoop(promise)
                .then(
                        value -> {
                            if (!(value instanceof Promise<?> next)) {
                                onResolved.run();
                            } else if (next == mark) {
                                onRejected.accept(
                                        new IllegalStateException(
                                                "the promise of the handler of "
                                                        + describe()
                                                        + " resolves to itself"));
                            } else {
                                Promise<?> nextMark = Integer.bitCount(step) == 1 ? next : mark;
                                follow(next, nextMark, step + 1, onResolved, onRejected);
                            }
                            return this;
                        },
                        failure -> {
                            onRejected.accept(failure);
                            return this;
                        });
    }

    /// Transfers the outcome of another loop's promise to this loop.
    @SuppressWarnings("ReferenceEquality") // A loop is only itself.
    private Promise<?> onThisLoop(Promise<?> promise) {
        EventLoop loop = exchange.bench.loop;
        return promise.loop() == loop ? promise : Promise.from(loop, promise.toFuture());
    }

    /// Runs a part of the handler: if that throws, the handler has failed.
    void goOn(Runnable callback) {
        Throwable thrown = UserCallbacks.thrownBy(Runnable::run, callback);
        if (thrown != null) {
            fail(thrown);
        }
    }

    private IllegalStateException unanswered(String who) {
        return new IllegalStateException(
                "the " + who + " of " + describe() + " is done, and has not answered");
    }

    String describe() {
        return exchange.head.method() + " " + exchange.head.target();
    }

    /// What is at fault, if a peer is: what was thrown for that is often wrapped on its way.
    private static @Nullable HttpException meant(Throwable failure) {
        return (HttpException) cause(failure, HttpException.class::isInstance);
    }

    /// The first of a failure and its causes that is meant; null if none is.
    private static @Nullable Throwable cause(Throwable failure, Predicate<Throwable> meant) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
            if (meant.test(cause)) {
                return cause;
            }
            cause = cause.getCause();
        }
        return null;
    }

    /// Whether the handler has only come to an end because its peer has: what it says to the peer in spite of that is an
    /// answer.
    private boolean isGivenUp(Throwable failure) {
        return meant(failure) == null && cause(failure, exchange::isPeersEnd) != null;
    }

    /// The connection is closed because more was written than may wait.
    void warnOfOutputLimit() {
        exchange.bench.outputLimit.warn(
                () ->
                        "the answer to "
                                + describe()
                                + " was cut off at the output limit of its connection: the handler"
                                + " wrote on although write() said no; wait for onWritable, or"
                                + " raise StreamConfig.outputLimit in the ListenerConfig");
    }

    private void warn(String what, Throwable failure) {
        // Not of what a peer did, who could fill the log with it, nor of one that is gone.
        if (!exchange.isLost() && meant(failure) == null && !isGivenUp(failure)) {
            HttpLog.LOGGER.log(System.Logger.Level.WARNING, what, failure);
        }
    }

    /// The handler has failed: answers for it, or cuts the answer off that has begun.
    void fail(Throwable failure) {
        if (exchange.isOver() || exchange.response.isWhole()) {
            warn("a handler failed after its answer", failure);
        } else if (exchange.response.isAnswered()) {
            warn("a handler failed in the middle of its answer", failure);
            exchange.connection().cutOff(exchange);
        } else if (isGivenUp(failure)) {
            exchange.connection().cutOff(exchange);
        } else if (failed) {
            warn("a handler failed again, for which an error is being answered", failure);
        } else {
            failed = true;
            begin(failure);
            answerFor(failure);
        }
    }

    /// Forgets what was set for another answer, and sets what belongs to this one whoever gives it.
    private void begin(Throwable failure) {
        exchange.response.begin();
        HttpException known = meant(failure);
        if (known != null && known.status() == 503) {
            // It is for want of a place, which passes.
            exchange.response.header("Retry-After", "1");
        }
    }

    private void answerFor(Throwable failure) {
        try {
            Promise<?> answered = returned(exchange.bench.server.answerFailure(exchange, failure));
            if (answered == exchange.bench.done && exchange.response.isAnswered()) {
                return;
            }
            int mine = exchange.generation();
            follow(
                    answered,
                    () -> {
                        if (exchange.isCurrent(mine) && !exchange.response.isAnswered()) {
                            failAgain(unanswered("error handler"));
                        }
                    },
                    another -> {
                        if (mine == exchange.generation()) {
                            failAgain(another);
                        }
                    });
        } catch (Throwable another) {
            if (!isIn(another, failure)) {
                another.addSuppressed(failure);
            }
            failAgain(another);
        }
    }

    /// Whether a failure is told of with another one already: as that itself, or as what it was caused by.
    @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself, whatever it equals
    private static boolean isIn(Throwable another, Throwable failure) {
        return cause(another, each -> each == failure) != null;
    }

    /// What was to answer for a failure has failed itself.
    private void failAgain(Throwable another) {
        if (exchange.isOver() || exchange.response.isAnswered()) {
            fail(another);
        } else {
            begin(another);
            Promise<?> _ = answerPlainly(another);
        }
    }

    /// Answers with what an error says, and with no word about others.
    Promise<?> answerPlainly(Throwable failure) {
        HttpException known = meant(failure);
        if (known != null) {
            return new ServerResponse(exchange)
                    .status(known.status())
                    .text(known.getMessage() + "\n");
        }
        HttpLog.LOGGER.log(
                System.Logger.Level.ERROR, "the handler of " + describe() + " failed", failure);
        return new ServerResponse(exchange).status(500).text("internal error\n");
    }
}
