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
import java.util.function.Consumer;

/// The future result of an asynchronous operation on a loop: a value, or the reason of a failure.
///
/// ```java
/// Promise<Row> row = loop.promisify(c -> database.find(id)); // blocks a virtual thread
/// row.then(r -> render(r)).recover(e -> fallback()).thenAccept(this::send);
/// ```
///
/// A promise is *pending* until it is *resolved* with a value or *rejected* with a reason. Then it
/// is *settled* permanently. Each step returns a new promise for the result of its handler: a
/// return value resolves that promise, an exception rejects it. A step without a handler for an
/// outcome passes the outcome on.
///
/// **Order.** Handlers run as microtasks on the loop thread, in the order in which they were
/// attached. They never run inside the call that settles or attaches.
///
/// **Threads.** Any thread may call [#await()], [#toFuture()], [#isSettled()], [#outcome()],
/// [#id()], [#createdAt()] and [#loop()]. All other methods are loop-confined, like those of
/// [EventLoop].
///
/// **Failure.** A rejection without a handler at the end of the next barrier is reported to
/// [dev.gyre.metrics.LoopObserver#onUnhandledRejection], once.
///
/// **Termination.** A promise that is pending when its loop terminates is rejected with
/// [LoopTerminatedException]. An unreachable pending promise is garbage-collected.
///
/// @param <T> the type of the value
public sealed interface Promise<T extends @Nullable Object> permits LoopPromise {
    /// Computes the result of a step.
    ///
    /// @param <S> the type of the value or reason
    /// @param <R> the type of the result
    @FunctionalInterface
    interface Handler<S extends @Nullable Object, R extends @Nullable Object> {
        /// Returns the value that resolves the step's promise. An exception rejects it.
        R apply(S from) throws Exception;
    }

    /// Consumes a value.
    ///
    /// @param <S> the type of the value
    @FunctionalInterface
    interface Action<S extends @Nullable Object> {
        /// Consumes the value. An exception rejects the step's promise.
        void accept(S from) throws Exception;
    }

    /// Runs on either outcome.
    @FunctionalInterface
    interface Cleanup {
        /// Cleans up. An exception rejects the step's promise.
        void run() throws Exception;
    }

    /// Returns a resolved promise. Loop-confined.
    static <T extends @Nullable Object> Promise<T> resolved(EventLoop loop, T value) {
        return Loop.of(loop).promises().resolved(value);
    }

    /// Returns a rejected promise. Loop-confined.
    static <T extends @Nullable Object> Promise<T> rejected(EventLoop loop, Throwable reason) {
        return Loop.of(loop).promises().rejected(reason);
    }

    /// Returns a promise that settles as the stage does. While the stage is pending, it keeps
    /// [EventLoop#runUntilEmpty()] running, and a graceful shutdown waits for it. A
    /// [CompletionException] is replaced by its cause. Loop-confined.
    static <T extends @Nullable Object> Promise<T> from(
            EventLoop loop, CompletionStage<? extends T> stage) {
        return Loop.of(loop).promises().from(stage);
    }

    /// Returns a promise that is resolved with `null` after the delay. Loop-confined.
    static Promise<@Nullable Void> delay(EventLoop loop, Duration delay) {
        return delay(loop, delay, Cancellation.none());
    }

    /// Returns a promise that is resolved with `null` after the delay, or rejected on cancellation.
    /// Loop-confined.
    static Promise<@Nullable Void> delay(
            EventLoop loop, Duration delay, Cancellation cancellation) {
        return Loop.of(loop).promises().delay(delay, cancellation);
    }

    /// Resolves with the values of all promises, in their order. Rejects as soon as one of them is
    /// rejected. The promises may belong to other loops. Loop-confined.
    static <T extends @Nullable Object> Promise<List<T>> all(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().all(promises);
    }

    /// Resolves with the outcomes of all promises, in their order. Rejected only if the loop
    /// terminates. Loop-confined.
    static <T extends @Nullable Object> Promise<List<Outcome<T>>> allSettled(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().allSettled(promises);
    }

    /// Resolves with the value of the first resolved promise. Rejects with [AllRejectedException]
    /// if all promises are rejected. Loop-confined.
    static <T extends @Nullable Object> Promise<T> any(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().any(promises);
    }

    /// Settles as the first settled promise does. Loop-confined.
    ///
    /// @throws IllegalArgumentException if the collection is empty: the result would never settle
    static <T extends @Nullable Object> Promise<T> race(
            EventLoop loop, Collection<? extends Promise<? extends T>> promises) {
        return Loop.of(loop).promises().race(promises);
    }

    /// Calls the handler with the value if resolved. The handler's result settles the step.
    <R extends @Nullable Object> Promise<R> then(Handler<? super T, ? extends R> handler);

    /// Calls the handler for the outcome. The handler's result settles the step. The second handler
    /// does not receive exceptions of the first.
    <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected);

    /// Calls the action with the value if resolved. Then resolves the step with `null`.
    Promise<@Nullable Void> thenAccept(Action<? super T> action);

    /// Calls the handler with the value if resolved. The step settles as the returned promise does,
    /// which may belong to another loop.
    <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler);

    /// Calls the handler with the reason if rejected. The handler's result settles the step.
    Promise<T> recover(Handler<? super Throwable, ? extends T> handler);

    /// Calls the handler if rejected with a reason of that type. The handler's result settles the
    /// step.
    <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler);

    /// Calls the handler with the reason if rejected. The step settles as the returned promise
    /// does.
    Promise<T> recoverCompose(Handler<? super Throwable, ? extends Promise<? extends T>> handler);

    /// Calls the action with the reason if rejected, and passes the outcome on. The action counts
    /// as a handler of the rejection: only later steps report it if they leave it unhandled. If
    /// the action throws, the step is rejected as that of [#finallyRun] is.
    Promise<T> onRejected(Consumer<? super Throwable> action);

    /// Runs the cleanup when settled and passes the outcome on. If the cleanup throws, the step is
    /// rejected with that exception, to which an earlier reason is added as suppressed.
    Promise<T> finallyRun(Cleanup cleanup);

    /// Returns a promise that settles as this one does, or is rejected with a [TimeoutException]
    /// after the timeout. This promise and its work are not affected.
    ///
    /// @throws IllegalArgumentException if the timeout is negative or its deadline cannot be
    ///     represented
    Promise<T> orTimeout(Duration timeout);

    /// Returns a promise that settles as this one does, or is rejected with the
    /// [CancelledException] on cancellation. This promise and its work are not affected.
    Promise<T> cancelOn(Cancellation cancellation);

    /// Blocks until the promise is settled and returns the value. For virtual and platform threads
    /// other than the loop thread.
    ///
    /// @throws CompletionException with the reason as its cause if the promise is rejected
    /// @throws WrongThreadException if called on the loop thread, which would deadlock
    /// @throws InterruptedException if the calling thread is interrupted; the promise is not
    ///     affected
    T await() throws InterruptedException;

    /// Waits like [#await()], at most for the timeout.
    ///
    /// @throws TimeoutException if the promise is still pending; it is not affected
    T await(Duration timeout) throws InterruptedException, TimeoutException;

    /// Returns a new future that completes with the value, or exceptionally with the reason.
    /// Dependents run on a virtual thread, never on the loop thread. Cancelling or completing the
    /// future does not affect the promise.
    CompletableFuture<T> toFuture();

    /// Returns whether the promise is resolved or rejected.
    boolean isSettled();

    /// Returns the outcome; `null` while pending.
    @Nullable Outcome<T> outcome();

    /// Returns an id that is unique in the loop, for logs.
    long id();

    /// Returns a throwable with the stack trace of the promise's creation; `null` unless
    /// [LoopConfig#withPromiseTracing] is enabled.
    @Nullable Throwable createdAt();

    /// Returns the loop of this promise.
    EventLoop loop();
}
