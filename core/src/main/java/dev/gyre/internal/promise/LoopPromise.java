package dev.gyre.internal.promise;

import dev.gyre.Cancellation;
import dev.gyre.CooperativeExecutor;
import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// A promise: its steps, the promise it follows, and the threads that wait for it. [PromiseState]
/// holds its outcome.
public sealed class LoopPromise<T extends @Nullable Object> extends PromiseState<T>
        implements Promise<T> permits Step, Combination {
    LoopPromise(Promises owner) {
        super(owner);
    }

    /// Returns whether another promise of this loop will settle it.
    @SuppressWarnings("ReferenceEquality") // identity of loops
    boolean isDerived() {
        LoopPromise<?> other = followed();
        return other != null && other.owner == owner;
    }

    /// Settles this promise as the other one does. Requires [#isUnresolved()].
    final void follow(LoopPromise<? extends T> other) {
        if (wouldFollowItself(other)) {
            settleRejected(
                    new IllegalStateException(
                            this + " cannot follow itself: it would never settle"));
        } else if (other.owner == owner && !other.isPending()) {
            other.markHandled();
            settleLike(other);
        } else {
            startFollowing(other);
            owner.registry.register(this); // A settled source no longer leads to it.
            Subscription foreign = other.observe(() -> settleLike(other), owner);
            if (foreign != null) {
                // A promise of a live loop must not keep this loop reachable after its termination.
                attach((Reaction.Internal) foreign::cancel);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // identity of promises
    private boolean wouldFollowItself(LoopPromise<?> other) {
        LoopPromise<?> next = other;
        while (next != null && next != this && next.owner == owner) {
            next = next.followed();
        }
        return next == this;
    }

    /// Runs the reaction as a microtask of the given loop when this promise settles.
    ///
    /// @return the subscription if that is another loop; `null` otherwise
    @SuppressWarnings("ReferenceEquality") // identity of loops
    final @Nullable Subscription observe(Reaction reaction, Promises target) {
        if (target == owner) {
            react(reaction);
            return null;
        }
        // A terminated loop refuses the task: it has rejected the promise that waits.
        return Subscription.of(
                this, () -> target.context.trySubmitPriority((Promises.Settlement) reaction::run));
    }

    /// Rejects this promise on cancellation, unless it is settled before.
    final void rejectOn(Cancellation cancellation) {
        Throwable already = cancellation.reason();
        if (already != null) {
            // At once: a queued settlement could run too late.
            settleRejected(already);
            return;
        }
        Cancellation.Registration registration =
                cancellation.onCancel(
                        () -> {
                            Throwable reason = Objects.requireNonNull(cancellation.reason());
                            owner.settleOnLoop(() -> settleRejected(reason));
                        });
        if (isPending()) {
            attach((Reaction.Internal) registration::close);
        } else {
            registration.close();
        }
    }

    /// Attaches a new step. Creating a step changes nothing, so the check follows it.
    private <P extends Step<T, ?>> P attachStep(String method, P step) {
        return owner.isOpenLoopThread()
                ? attachStep(step)
                : owner.runLockedIfOpen(method, () -> attachStep(step));
    }

    private <P extends Step<T, ?>> P attachStep(P step) {
        if (step.isPending()) {
            // The registry finds a step of a recent promise through that promise.
            if (!isPending() || entryIfPresent() != null) {
                owner.registry.register(step);
            }
            react(step);
        } else {
            markHandled(); // Cancelled already: the step waits for nothing.
        }
        return step;
    }

    private Promise<T> attachLimit(String method, Consumer<Step.Limit<T>> limit) {
        return owner.isOpenLoopThread()
                ? attachLimit(limit)
                : owner.runLockedIfOpen(method, () -> attachLimit(limit));
    }

    private Promise<T> attachLimit(Consumer<Step.Limit<T>> limit) {
        Step.Limit<T> step = new Step.Limit<>(this);
        limit.accept(step);
        return attachStep(step);
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> handler) {
        Objects.requireNonNull(handler, "handler");
        return attachStep("then", new Step.Then<T, R>(this, handler));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected) {
        Objects.requireNonNull(onResolved, "onResolved");
        Objects.requireNonNull(onRejected, "onRejected");
        return attachStep("then", new Step.Either<T, R>(this, onResolved, onRejected));
    }

    @Override
    public final Promise<@Nullable Void> thenAccept(Action<? super T> action) {
        Objects.requireNonNull(action, "action");
        return attachStep("thenAccept", new Step.Accept<T>(this, action));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler) {
        Objects.requireNonNull(handler, "handler");
        return attachStep("thenCompose", new Step.Compose<T, R>(this, handler));
    }

    @Override
    public final Promise<T> recover(Handler<? super Throwable, ? extends T> handler) {
        return recover(Throwable.class, handler);
    }

    @Override
    public final <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(handler, "handler");
        return attachStep("recover", new Step.Recover<T, X>(this, type, handler));
    }

    @Override
    public final Promise<T> recoverCompose(
            Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
        Objects.requireNonNull(handler, "handler");
        return attachStep("recoverCompose", new Step.RecoverCompose<T>(this, handler));
    }

    @Override
    public final Promise<T> onRejected(Consumer<? super Throwable> action) {
        Objects.requireNonNull(action, "action");
        Cleanup observe =
                () -> {
                    if (!isResolved()) {
                        action.accept(reason());
                    }
                };
        return attachStep("onRejected", new Step.Finally<T>(this, observe, true));
    }

    @Override
    public final Promise<T> finallyRun(Cleanup cleanup) {
        Objects.requireNonNull(cleanup, "cleanup");
        return attachStep("finallyRun", new Step.Finally<T>(this, cleanup, false));
    }

    @Override
    public final Promise<T> orTimeout(Duration timeout) {
        long nanos = Durations.nanos("timeout", timeout);
        return attachLimit("orTimeout", step -> step.rejectAfter(timeout, nanos));
    }

    @Override
    public final Promise<T> cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        return attachLimit("cancelOn", step -> step.rejectOn(cancellation));
    }

    @Override
    public final T await() throws InterruptedException {
        requireOtherThread();
        CooperativeExecutor turns = CooperativeExecutor.current(loop());
        if (turns != null) {
            markHandled();
            turns.await(this::isSettled);
        } else if (!isSettled()) {
            Subscription subscription = unparkOnSettlement();
            while (!isSettled()) {
                throwIfInterrupted(subscription);
                LockSupport.park(this);
            }
        }
        return valueOrThrow();
    }

    @Override
    public final T await(Duration timeout) throws InterruptedException, TimeoutException {
        long nanos = Durations.saturatedNanos("timeout", timeout);
        requireOtherThread();
        CooperativeExecutor turns = CooperativeExecutor.current(loop());
        if (turns != null) {
            markHandled();
            if (!turns.await(this::isSettled, Duration.ofNanos(nanos))) {
                throw timedOut(timeout);
            }
        } else if (!isSettled()) {
            long deadlineNanos = System.nanoTime() + nanos;
            Subscription subscription = unparkOnSettlement();
            while (!isSettled()) {
                throwIfInterrupted(subscription);
                long left = deadlineNanos - System.nanoTime(); // survives wrap-around
                if (left <= 0) {
                    subscription.cancel();
                    throw timedOut(timeout);
                }
                LockSupport.parkNanos(this, left);
            }
        }
        return valueOrThrow();
    }

    private TimeoutException timedOut(Duration timeout) {
        return new TimeoutException(this + " did not settle within " + Checks.format(timeout));
    }

    private void requireOtherThread() {
        if (owner.context.mustNotBlock()) {
            throw new WrongThreadException(
                    "await on "
                            + Thread.currentThread()
                            + ", the thread that must settle "
                            + this
                            + ", would deadlock: continue with then, or wait in promisify");
        }
    }

    private Subscription unparkOnSettlement() {
        StackReserve.requireLarge();
        Thread waiting = Thread.currentThread();
        return Subscription.of(this, () -> LockSupport.unpark(waiting));
    }

    private static void throwIfInterrupted(Subscription subscription) throws InterruptedException {
        if (Thread.interrupted()) {
            subscription.cancel();
            throw new InterruptedException("interrupted in await");
        }
    }

    private T valueOrThrow() {
        if (isResolved()) {
            return resolvedValue();
        }
        throw new CompletionException(reason());
    }

    @Override
    public final CompletableFuture<T> toFuture() {
        return PromiseFuture.of(this);
    }

    @Override
    public final @Nullable Outcome<T> outcome() {
        if (!isSettled()) {
            return null;
        }
        return isResolved()
                ? new Outcome.Resolved<>(resolvedValue())
                : new Outcome.Rejected<>(reason());
    }

    @Override
    public final long id() {
        return entry().id;
    }

    @Override
    public final @Nullable Throwable createdAt() {
        Registry.Entry present = entryIfPresent();
        return present == null ? null : present.createdAt;
    }

    @Override
    public final EventLoop loop() {
        return owner.context.loop();
    }

    @Override
    public final String toString() {
        return "Promise#" + id() + "[" + describe() + "]";
    }

    private String describe() {
        if (!isSettled()) {
            return "pending";
        }
        return isResolved() ? "resolved" : "rejected: " + reason().getClass().getName();
    }
}
