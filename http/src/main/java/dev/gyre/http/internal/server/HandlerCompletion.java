package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.HttpException;
import dev.gyre.http.Response;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Waits for a handler, and sends an error response if it fails.
///
/// Loop thread only.
final class HandlerCompletion {
    private static final int MAX_CAUSES = 16;

    private final Exchange exchange;

    // Loop thread only.
    private boolean returned;

    /// The number of pending promises: of the handler, and of an error handler.
    private int pending;

    HandlerCompletion(Exchange exchange) {
        this.exchange = exchange;
    }

    void reset() {
        returned = false;
        pending = 0;
    }

    /// Returns whether the handler has completed. Callbacks that it registered may still run.
    boolean isSettled() {
        return returned && pending == 0;
    }

    /// Called when the handler has returned or thrown, before [#handled].
    void handlerReturned(Promise<?> promise) {
        returned = true;
        if (exchange.isLost()) {
            handled(promise); // Without a connection, it is not called again.
        }
    }

    /// Returns the promise of a handler, or a settled one instead of `null`.
    ///
    /// @throws IllegalStateException if it is `null`, and the handler has not responded
    Promise<?> returned(@Nullable Promise<?> promise) {
        if (promise != null) {
            return promise;
        }
        if (!exchange.isEnded() && !exchange.response.isCommitted()) {
            throw new IllegalStateException(
                    "the handler of "
                            + describe()
                            + " returned null without a response: return the promise of"
                            + " response.text(…) or of another method that sends");
        }
        return exchange.context.done;
    }

    /// Called when the handler has returned. Waits for its promise unless that is settled.
    void handled(Promise<?> promise) {
        if (promise == exchange.context.done && exchange.response.isCommitted()) {
            return;
        }
        int mine = exchange.generation();
        follow(
                promise,
                () -> {
                    if (exchange.isCurrent(mine) && exchange.state() == ExchangeState.HANDLING) {
                        fail(noResponse("handler"));
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
        int mine = exchange.generation();
        pending++;
        follow(
                promise,
                promise,
                1,
                () -> {
                    onResolved.run();
                    settled(mine);
                },
                failure -> {
                    onRejected.accept(failure);
                    settled(mine);
                });
    }

    private void settled(int generation) {
        if (generation == exchange.generation()) {
            pending--;
            exchange.endIfLost();
        }
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
        EventLoop loop = exchange.context.loop;
        return promise.loop() == loop ? promise : Promise.from(loop, promise.toFuture());
    }

    /// Runs a callback of the handler. If it throws, the handler has failed.
    void runCallback(Runnable callback) {
        Throwable thrown = UserCallbacks.thrownBy(Runnable::run, callback);
        if (thrown != null) {
            fail(thrown);
        }
    }

    private IllegalStateException noResponse(String what) {
        return new IllegalStateException(
                "the " + what + " of " + describe() + " completed without a response");
    }

    String describe() {
        return exchange.head.method() + " " + exchange.head.target();
    }

    /// Returns the [HttpException] among a failure and its causes; `null` if absent.
    private static @Nullable HttpException httpException(Throwable failure) {
        return (HttpException) cause(failure, HttpException.class::isInstance);
    }

    private static @Nullable Throwable cause(Throwable failure, Predicate<Throwable> condition) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++) {
            if (condition.test(cause)) {
                return cause;
            }
            cause = cause.getCause();
        }
        return null;
    }

    /// Returns whether the handler failed only because the client has ended its side. An
    /// [HttpException] is meant for the client nevertheless.
    private boolean isClientEnd(Throwable failure) {
        return httpException(failure) == null && cause(failure, exchange::isClientEnd) != null;
    }

    void warnOfOutputLimit() {
        exchange.context.warnOnce(
                ServerContext.Warning.OUTPUT_LIMIT,
                () ->
                        "the response to "
                                + describe()
                                + " was truncated at the output limit of its connection: the"
                                + " handler ignored that write() returned false; wait for"
                                + " onWritable, or raise StreamConfig.outputLimit in the"
                                + " ListenerConfig");
    }

    private void warn(String what, Throwable failure) {
        // Clients must not fill the log.
        if (!exchange.isLost() && httpException(failure) == null && !isClientEnd(failure)) {
            // The head of an ended request is gone, but its route is known.
            Route route = exchange.route;
            String pattern = route == null || route.entry == null ? "a route" : route.entry.text;
            String name = exchange.isEnded() ? pattern : describe();
            HttpLog.LOGGER.log(
                    System.Logger.Level.WARNING, "the handler of " + name + what, failure);
        }
    }

    /// Sends an error response for the handler, or truncates a response that has begun.
    void fail(Throwable failure) {
        if (exchange.isEnded() || exchange.response.isWhole()) {
            warn(" failed after its response", failure);
        } else if (exchange.response.isCommitted()) {
            warn(" failed in the middle of its response", failure);
            exchange.connection().truncate(exchange);
        } else if (exchange.state() == ExchangeState.FAILING) {
            warn(" failed again while its error response is produced", failure);
        } else if (isClientEnd(failure)) {
            exchange.connection().truncate(exchange);
        } else {
            exchange.connection().enter(ExchangeState.FAILING);
            respondTo(failure);
        }
    }

    /// Discards the head of the handler, and sets the headers that belong to the failure.
    private void begin(Throwable failure) {
        exchange.response.restart();
        HttpException known = httpException(failure);
        if (known != null && known.status() == 503) {
            exchange.response.header("Retry-After", "1");
        }
        if (known != null) {
            known.headers().forEach(exchange.response::header);
        }
    }

    private void respondTo(Throwable failure) {
        try {
            begin(failure); // Throws if the headers of an HttpException are too long.
            Promise<?> answered =
                    returned(
                            exchange.context.server.dispatcher.respondToFailure(exchange, failure));
            if (answered == exchange.context.done && exchange.response.isCommitted()) {
                return;
            }
            int mine = exchange.generation();
            follow(
                    answered,
                    () -> {
                        if (exchange.isCurrent(mine) && !exchange.response.isCommitted()) {
                            failAgain(noResponse("error handler"));
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

    /// Returns whether a failure is another one, or among its causes.
    @SuppressWarnings("ReferenceEquality") // A throwable cannot suppress itself.
    private static boolean isIn(Throwable another, Throwable failure) {
        return cause(another, each -> each == failure) != null;
    }

    /// Called when an error handler has failed.
    private void failAgain(Throwable another) {
        if (exchange.isEnded() || exchange.response.isCommitted()) {
            fail(another);
        } else {
            Throwable sent = another;
            try {
                begin(another);
            } catch (IllegalArgumentException e) {
                sent = e;
                begin(e);
            }
            Promise<?> _ = sendDefaultError(sent);
        }
    }

    /// Returns the status of the default response to a failure.
    static int statusOf(Throwable failure) {
        HttpException known = httpException(failure);
        return known == null ? 500 : known.status();
    }

    /// Logs a failure that the response does not describe.
    void logUnlessHttpException(Throwable failure) {
        if (httpException(failure) == null) {
            HttpLog.LOGGER.log(
                    System.Logger.Level.ERROR, "the handler of " + describe() + " failed", failure);
        }
    }

    /// Sends the message of an [HttpException], and nothing about other failures.
    Promise<?> sendDefaultError(Throwable failure) {
        logUnlessHttpException(failure);
        HttpException known = httpException(failure);
        int status = statusOf(failure);
        String message =
                known == null
                        ? "internal error"
                        : Objects.requireNonNullElse(known.getMessage(), Status.reason(status));
        Response response = new ServerResponse(exchange).status(status);
        if (known != null && known.body() != null) {
            return response.json(known.body());
        }
        Map<String, String> errors = known == null ? Map.of() : known.errors();
        ErrorFormat.ErrorBody body =
                exchange.context.server.dispatcher.errorBody(status, message, errors);
        return response.type(body.contentType()).send(body.bytes());
    }
}
