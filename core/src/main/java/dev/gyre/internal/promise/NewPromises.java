package dev.gyre.internal.promise;

import dev.gyre.BlockingWork;
import dev.gyre.Cancellation;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/// Makes promises that are no step of another one: of a value, of work outside the loop, of time, of several others.
///
/// Loop thread, or the one that sets the loop up.
public final class NewPromises {
    private final Promises home;

    NewPromises(Promises home) {
        this.home = home;
    }

    public <T extends @Nullable Object> Promise<T> resolved(T value) {
        return home.create(
                "resolved",
                () -> {
                    LoopPromise<T> promise = new LoopPromise<>(home);
                    promise.settleResolved(value);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<T> rejected(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        return home.create(
                "rejected",
                () -> {
                    LoopPromise<T> promise = new LoopPromise<>(home);
                    promise.settleRejected(reason);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<T> from(CompletionStage<? extends T> stage) {
        Objects.requireNonNull(stage, "stage");
        AwaitedStage<T> awaited =
                home.create(
                        "from",
                        () -> {
                            AwaitedStage<T> added = new AwaitedStage<>(home.<T>pending());
                            added.register();
                            return added;
                        });
        awaited.await(stage); // It may run callbacks, so no lock is held.
        return awaited.promise;
    }

    public <T extends @Nullable Object> Promise<T> promisify(
            Executor executor, Cancellation cancellation, BlockingWork<? extends T> work) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(cancellation, "cancellation");
        Objects.requireNonNull(work, "work");
        PromisedWork<T> promised =
                home.create(
                        "promisify",
                        () -> {
                            PromisedWork<T> added =
                                    new PromisedWork<>(
                                            home.<T>pending(), work, executor, cancellation);
                            added.register();
                            added.listenForCancellation();
                            return added;
                        });
        promised.start();
        return promised.promise;
    }

    public Promise<@Nullable Void> delay(Duration delay, Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        return home.create(
                "delay",
                () -> {
                    LoopPromise<@Nullable Void> promise = new LoopPromise<>(home);
                    Timer timer = home.host.loop().after(delay, t -> promise.settleResolved(null));
                    home.register(promise);
                    promise.attach((InternalReaction) () -> home.cancel(timer));
                    promise.rejectOn(cancellation);
                    return promise;
                });
    }

    public <T extends @Nullable Object> Promise<List<T>> all(
            Collection<? extends Promise<? extends T>> promises) {
        return combined("all", () -> new Combination.All<>(home, promises));
    }

    public <T extends @Nullable Object> Promise<List<Outcome<T>>> allSettled(
            Collection<? extends Promise<? extends T>> promises) {
        return combined("allSettled", () -> new Combination.AllSettled<>(home, promises));
    }

    public <T extends @Nullable Object> Promise<T> any(
            Collection<? extends Promise<? extends T>> promises) {
        return combined("any", () -> new Combination.Any<>(home, promises));
    }

    public <T extends @Nullable Object> Promise<T> race(
            Collection<? extends Promise<? extends T>> promises) {
        return combined("race", () -> new Combination.Race<>(home, promises));
    }

    private <R extends @Nullable Object> Promise<R> combined(
            String method, Supplier<? extends Combination<?, R>> combination) {
        return home.create(
                method,
                () -> {
                    Combination<?, R> made = combination.get();
                    home.register(made);
                    made.begin();
                    return made;
                });
    }
}
