package dev.gyre.internal.promise;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// A promise: what can be made of it, and what it can follow. Its outcome is in [PromiseState].
public sealed class LoopPromise<T extends @Nullable Object> extends PromiseState<T>
        implements Promise<T> permits Step, Combination {
    LoopPromise(Promises home) {
        super(home);
    }

    // ------------------------------------------------------------------ following

    /// Whether it will be settled when some other promise of this loop is.
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    boolean isDerived() {
        LoopPromise<?> other = followed();
        return other != null && other.owner == owner;
    }

    /// Lets it settle as the other one does. Only while it [#isOpen()].
    final void follow(LoopPromise<? extends T> other) {
        if (wouldFollowItself(other)) {
            settleRejected(
                    new IllegalStateException(
                            this + " was told to follow itself: it would never settle"));
        } else if (other.owner == owner && !other.isPending()) {
            other.markHandled();
            settleLike(other);
        } else {
            startFollowing(other);
            owner.register(this); // Its source, by way of which it was known, is settled.
            Subscription abroad = other.observe(new Follower(this, other), owner);
            if (abroad != null) {
                // Otherwise a promise of a loop that goes on would keep this loop when it is over.
                attach((InternalReaction) abroad::cancelUnlessSettled);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // the very same promise
    private boolean wouldFollowItself(LoopPromise<?> other) {
        LoopPromise<?> next = other;
        while (next != null && next != this && next.owner == owner) {
            next = next.followed();
        }
        return next == this;
    }

    private record Follower(LoopPromise<?> follower, LoopPromise<?> followed) implements Reaction {
        @Override
        public void run() {
            follower.settleLike(followed);
        }
    }

    /// Lets the reaction run in another loop if that is where it belongs.
    ///
    /// @return for taking it back from there, or null if it is attached here
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    final @Nullable Subscription observe(Reaction reaction, Promises where) {
        if (where == owner) {
            react(reaction);
            return null;
        }
        // Refused if that loop is over: then what waited there has been rejected.
        return Subscription.of(
                this, () -> where.host.submitPriority((SettlementTask) reaction::run));
    }

    /// Rejects it when that is cancelled, unless it is settled before.
    final void rejectOn(Cancellation cancellation) {
        Throwable already = cancellation.reason();
        if (already != null) {
            // At once: a delivery might come behind what it should precede.
            settleRejected(already);
            return;
        }
        Cancellation.Registration registration =
                cancellation.onCancel(() -> deliverRejection(cancellation));
        if (isPending()) {
            attach((InternalReaction) registration::close);
        } else {
            registration.close();
        }
    }

    /// Any thread.
    private void deliverRejection(Cancellation cancelled) {
        Throwable reason = Objects.requireNonNull(cancelled.reason());
        owner.settleOnLoop(() -> settleRejected(reason));
    }

    // ------------------------------------------------------------------ steps

    private Promise<T> withLimit(String method, Consumer<DeadlineStep<T>> terms) {
        return owner.isOpenHere()
                ? withLimit(terms)
                : owner.runLockedIfOpen(method, () -> withLimit(terms));
    }

    private Promise<T> withLimit(Consumer<DeadlineStep<T>> terms) {
        DeadlineStep<T> guard = new DeadlineStep<>(this);
        terms.accept(guard);
        return attachStep(guard);
    }

    private <P extends Step<T, ?>> P attachStep(P step) {
        if (step.isPending()) {
            // A step of a new promise is found by way of that one, which is noted itself.
            if (!isPending() || entryIfPresent() != null) {
                owner.register(step);
            }
            react(step);
        } else {
            markHandled(); // A guard that was cancelled already waits for nothing.
        }
        return step;
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> handler) {
        Objects.requireNonNull(handler, "handler");
        return owner.isOpenHere()
                ? attachStep(new Steps.Then<>(this, handler))
                : owner.runLockedIfOpen("then", () -> attachStep(new Steps.Then<>(this, handler)));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected) {
        Objects.requireNonNull(onResolved, "onResolved");
        Objects.requireNonNull(onRejected, "onRejected");
        return owner.isOpenHere()
                ? attachStep(new Steps.Either<>(this, onResolved, onRejected))
                : owner.runLockedIfOpen(
                        "then", () -> attachStep(new Steps.Either<>(this, onResolved, onRejected)));
    }

    @Override
    public final Promise<@Nullable Void> thenAccept(Action<? super T> action) {
        Objects.requireNonNull(action, "action");
        return owner.isOpenHere()
                ? attachStep(new Steps.Accept<>(this, action))
                : owner.runLockedIfOpen(
                        "thenAccept", () -> attachStep(new Steps.Accept<>(this, action)));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler) {
        Objects.requireNonNull(handler, "handler");
        return owner.isOpenHere()
                ? attachStep(new Steps.Compose<>(this, handler))
                : owner.runLockedIfOpen(
                        "thenCompose", () -> attachStep(new Steps.Compose<>(this, handler)));
    }

    @Override
    public final Promise<T> recover(Handler<? super Throwable, ? extends T> handler) {
        Objects.requireNonNull(handler, "handler");
        return owner.isOpenHere()
                ? attachStep(new Steps.Recover<>(this, Throwable.class, handler))
                : owner.runLockedIfOpen(
                        "recover",
                        () -> attachStep(new Steps.Recover<>(this, Throwable.class, handler)));
    }

    @Override
    public final <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(handler, "handler");
        return owner.isOpenHere()
                ? attachStep(new Steps.Recover<>(this, type, handler))
                : owner.runLockedIfOpen(
                        "recover", () -> attachStep(new Steps.Recover<>(this, type, handler)));
    }

    @Override
    public final Promise<T> recoverCompose(
            Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
        Objects.requireNonNull(handler, "handler");
        return owner.isOpenHere()
                ? attachStep(new Steps.RecoverCompose<>(this, handler))
                : owner.runLockedIfOpen(
                        "recoverCompose",
                        () -> attachStep(new Steps.RecoverCompose<>(this, handler)));
    }

    @Override
    public final Promise<T> finallyRun(Cleanup cleanup) {
        Objects.requireNonNull(cleanup, "cleanup");
        return owner.isOpenHere()
                ? attachStep(new Steps.Finally<>(this, cleanup))
                : owner.runLockedIfOpen(
                        "finallyRun", () -> attachStep(new Steps.Finally<>(this, cleanup)));
    }

    @Override
    public final Promise<T> orTimeout(Duration timeout) {
        long nanos = Durations.nanos("timeout", timeout);
        return withLimit("orTimeout", guard -> guard.rejectAfter(timeout, nanos));
    }

    @Override
    public final Promise<T> cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        return withLimit("cancelOn", guard -> guard.rejectOn(cancellation));
    }

    // ------------------------------------------------------------------ any thread

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
    public final T await() throws InterruptedException {
        return Waiter.await(this);
    }

    @Override
    public final T await(Duration timeout) throws InterruptedException, TimeoutException {
        return Waiter.await(this, timeout);
    }

    @Override
    public final CompletableFuture<T> toFuture() {
        return Futures.of(this);
    }

    @Override
    public final long id() {
        return entry().id;
    }

    @Override
    public final @Nullable Throwable createdAt() {
        RegistryEntry present = entryIfPresent();
        return present == null ? null : present.createdAt;
    }

    @Override
    public final EventLoop loop() {
        return owner.host.loop();
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
