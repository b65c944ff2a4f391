package dev.gyre;

import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.promise.LoopPromise;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

/// A value that a loop will have later, or the reason why it will not.
///
/// ```java
/// Promise<Row> row = loop.promisify(c -> database.find(id));   // a virtual thread does the waiting
/// row.then(r -> render(r)).recover(e -> fallback()).thenAccept(this::send);
/// ```
///
/// A promise is *pending* until it is *resolved* with a value or *rejected* with a reason; then it is *settled*
/// for good. Each step returns a new promise for what the step's handler comes to: what it returns resolves that
/// promise, what it throws rejects it. A step without a handler for an outcome passes it on.
///
/// **Order.** Handlers run as microtasks on the loop thread, never inside the call that settles or attaches, and
/// in the order in which they were attached.
///
/// **Threads.** Any thread may call [#await()], [#toFuture()], [#isSettled()], [#outcome()], [#id()],
/// [#createdAt()] and [#loop()]. All else is loop-confined, like the methods of [EventLoop].
///
/// **Failure.** A rejection for which no handler was attached by the end of the barrier after it goes to
/// [dev.gyre.metrics.LoopObserver#onUnhandledRejection], once.
///
/// **The end.** A promise that is still pending when its loop ends is rejected with [LoopTerminatedException]. A
/// pending promise that nobody holds any more is garbage like any other object.
///
/// @param <T> the type of the value
public sealed interface Promise<T extends @Nullable Object> permits LoopPromise {
    /// Turns what came before into what comes next.
    ///
    /// @param <S> what came
    /// @param <R> what comes next
    @FunctionalInterface
    interface Handler<S extends @Nullable Object, R extends @Nullable Object> {
        /// What it returns resolves the step's promise, what it throws rejects it.
        R apply(S from) throws Exception;
    }

    /// Does something with what came before.
    ///
    /// @param <S> what came
    @FunctionalInterface
    interface Action<S extends @Nullable Object> {
        /// What it throws rejects the step's promise.
        void accept(S from) throws Exception;
    }

    /// Does something however the promise settled.
    @FunctionalInterface
    interface Cleanup {
        /// What it throws rejects the step's promise.
        void run() throws Exception;
    }

    // ------------------------------------------------------------------ making one

    /// A promise that is resolved. Loop-confined.
    static <T extends @Nullable Object> Promise<T> resolved(EventLoop loop, T value) {
        return Loop.of(loop).promises().resolved(value);
    }

    /// A promise that is rejected. Loop-confined.
    static <T extends @Nullable Object> Promise<T> rejected(EventLoop loop, Throwable reason) {
        return Loop.of(loop).promises().rejected(reason);
    }

    /// A promise that settles as the stage does. The stage is something the loop waits for: while it is pending it
    /// keeps [EventLoop#runUntilEmpty()] going and a graceful shutdown waiting. A [CompletionException] is
    /// taken for what caused it. Loop-confined.
    static <T extends @Nullable Object> Promise<T> from(
            EventLoop loop, CompletionStage<? extends T> stage) {
        return Loop.of(loop).promises().from(stage);
    }

    /// A promise that is resolved, with null, when the time has passed. Loop-confined.
    static Promise<@Nullable Void> delay(EventLoop loop, Duration delay) {
        return delay(loop, delay, Cancellation.none());
    }

    /// The same, unless it is cancelled before. Loop-confined.
    static Promise<@Nullable Void> delay(
            EventLoop loop, Duration delay, Cancellation cancellation) {
        return Loop.of(loop).promises().delay(delay, cancellation);
    }

    // ------------------------------------------------------------------ several at once

    /// The values of all, in the order of the promises; rejected as soon as one of them is. Promises of other loops
    /// are welcome. Loop-confined.
    static <T extends @Nullable Object> Promise<List<T>> all(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().all(promises);
    }

    /// The outcomes of all, in the order of the promises; never rejected but by the loop's end. Loop-confined.
    static <T extends @Nullable Object> Promise<List<Outcome<T>>> allSettled(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().allSettled(promises);
    }

    /// The value of the first that is resolved; rejected with [AllRejectedException] when none is left that could
    /// be. Loop-confined.
    static <T extends @Nullable Object> Promise<T> any(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().any(promises);
    }

    /// Settles as the first that settles. Loop-confined.
    ///
    /// @throws IllegalArgumentException if there is none: the result would never settle
    static <T extends @Nullable Object> Promise<T> race(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().race(promises);
    }

    // ------------------------------------------------------------------ steps

    /// When resolved, goes on with what the handler makes of the value.
    <R extends @Nullable Object> Promise<R> then(Handler<? super T, ? extends R> handler);

    /// When settled, goes on with what the handler for that outcome returns. What the first one throws does not
    /// reach the second.
    <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected);

    /// When resolved, does something with the value. The step's promise is resolved with null.
    Promise<@Nullable Void> thenAccept(Action<? super T> action);

    /// When resolved, goes on as the promise does that the handler returns, which may belong to another loop.
    <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler);

    /// When rejected, goes on with what the handler makes of the reason.
    Promise<T> recover(Handler<? super Throwable, ? extends T> handler);

    /// When rejected with a reason of that type, goes on with what the handler makes of it.
    <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler);

    /// When rejected, goes on as the promise does that the handler returns.
    Promise<T> recoverCompose(Handler<? super Throwable, ? extends Promise<? extends T>> handler);

    /// When settled, does something, and goes on with the same outcome. If the action throws, the step is rejected
    /// with that; a reason it had before is suppressed in it.
    Promise<T> finallyRun(Cleanup cleanup);

    /// Settles as this one, but is rejected with a [TimeoutException] if that takes longer. This promise itself,
    /// and the work behind it, go on.
    ///
    /// @throws IllegalArgumentException if the timeout is negative or its deadline cannot be represented
    Promise<T> orTimeout(Duration timeout);

    /// Settles as this one, but is rejected with a [CancelledException] if it is cancelled before. This promise
    /// itself, and the work behind it, go on.
    Promise<T> cancelOn(Cancellation cancellation);

    // ------------------------------------------------------------------ out of the loop

    /// Waits for the value. For virtual and platform threads other than the loop's.
    ///
    /// @throws CompletionException with the reason as its cause if the promise is rejected
    /// @throws WrongThreadException on the loop thread, at once: the loop would wait for itself
    /// @throws InterruptedException if the calling thread is interrupted; the promise does not mind
    T await() throws InterruptedException;

    /// The same, but not for ever.
    ///
    /// @throws TimeoutException if that takes longer; the promise does not mind
    T await(Duration timeout) throws InterruptedException, TimeoutException;

    /// A new future that is completed with the value, or exceptionally with the reason. Dependents that wait for it
    /// run on a virtual thread, never on the loop's. Cancelling or completing it does not touch the promise.
    CompletableFuture<T> toFuture();

    // ------------------------------------------------------------------ looking

    /// Whether it is resolved or rejected.
    boolean isSettled();

    /// How it settled, or null while it is pending.
    @Nullable Outcome<T> outcome();

    /// A number that no other promise of the loop has or had, for logs.
    long id();

    /// Where the promise was made: a throwable that nobody threw, for its stack. Null unless
    /// [LoopConfig#withPromiseTracing] is on.
    @Nullable Throwable createdAt();

    /// The loop it belongs to.
    EventLoop loop();
}
