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
        return other != null && other.home == home;
    }

    /// Lets it settle as the other one does. Only while it [#isOpen()].
    final void follow(LoopPromise<? extends T> other) {
        if (leadsHere(other)) {
            settleRejected(
                    new IllegalStateException(
                            this + " was told to follow itself: it would never settle"));
        } else if (other.home == home && !other.isPending()) {
            other.markHandled();
            settleLike(other);
        } else {
            beginToFollow(other);
            home.register(this); // Its source, by way of which it was known, is settled.
            Subscription abroad = other.observe(new Follower(this, other), home);
            if (abroad != null) {
                // Otherwise a promise of a loop that goes on would keep this loop when it is over.
                attach((InternalReaction) abroad::cancelUnlessSettled);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // the very same promise
    private boolean leadsHere(LoopPromise<?> other) {
        LoopPromise<?> next = other;
        while (next != null && next != this && next.home == home) {
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
        if (where == home) {
            react(reaction);
            return null;
        }
        // Refused if that loop is over: then what waited there has been rejected.
        return Subscription.of(
                this, () -> where.host.trySubmitPriority((SettlementTask) reaction::run));
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
        home.settleOnLoop(() -> settleRejected(reason));
    }

    // ------------------------------------------------------------------ steps

    private Promise<T> guarded(String method, Consumer<DeadlineStep<T>> terms) {
        return home.isOpenHere() ? guarded(terms) : home.whileOpen(method, () -> guarded(terms));
    }

    private Promise<T> guarded(Consumer<DeadlineStep<T>> terms) {
        DeadlineStep<T> guard = new DeadlineStep<>(this);
        terms.accept(guard);
        return begun(guard);
    }

    private <P extends Step<T, ?>> P begun(P step) {
        if (step.isPending()) {
            // A step of a new promise is found by way of that one, which is noted itself.
            if (!isPending() || presentEntry() != null) {
                home.register(step);
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
        return home.isOpenHere()
                ? begun(new Steps.Then<>(this, handler))
                : home.whileOpen("then", () -> begun(new Steps.Then<>(this, handler)));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected) {
        Objects.requireNonNull(onResolved, "onResolved");
        Objects.requireNonNull(onRejected, "onRejected");
        return home.isOpenHere()
                ? begun(new Steps.Either<>(this, onResolved, onRejected))
                : home.whileOpen(
                        "then", () -> begun(new Steps.Either<>(this, onResolved, onRejected)));
    }

    @Override
    public final Promise<@Nullable Void> thenAccept(Action<? super T> action) {
        Objects.requireNonNull(action, "action");
        return home.isOpenHere()
                ? begun(new Steps.Accept<>(this, action))
                : home.whileOpen("thenAccept", () -> begun(new Steps.Accept<>(this, action)));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler) {
        Objects.requireNonNull(handler, "handler");
        return home.isOpenHere()
                ? begun(new Steps.Compose<>(this, handler))
                : home.whileOpen("thenCompose", () -> begun(new Steps.Compose<>(this, handler)));
    }

    @Override
    public final Promise<T> recover(Handler<? super Throwable, ? extends T> handler) {
        Objects.requireNonNull(handler, "handler");
        return home.isOpenHere()
                ? begun(new Steps.Recover<>(this, Throwable.class, handler))
                : home.whileOpen(
                        "recover",
                        () -> begun(new Steps.Recover<>(this, Throwable.class, handler)));
    }

    @Override
    public final <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(handler, "handler");
        return home.isOpenHere()
                ? begun(new Steps.Recover<>(this, type, handler))
                : home.whileOpen("recover", () -> begun(new Steps.Recover<>(this, type, handler)));
    }

    @Override
    public final Promise<T> recoverCompose(
            Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
        Objects.requireNonNull(handler, "handler");
        return home.isOpenHere()
                ? begun(new Steps.RecoverCompose<>(this, handler))
                : home.whileOpen(
                        "recoverCompose", () -> begun(new Steps.RecoverCompose<>(this, handler)));
    }

    @Override
    public final Promise<T> finallyRun(Cleanup cleanup) {
        Objects.requireNonNull(cleanup, "cleanup");
        return home.isOpenHere()
                ? begun(new Steps.Finally<>(this, cleanup))
                : home.whileOpen("finallyRun", () -> begun(new Steps.Finally<>(this, cleanup)));
    }

    @Override
    public final Promise<T> orTimeout(Duration timeout) {
        long nanos = Durations.nanos("timeout", timeout);
        return guarded("orTimeout", guard -> guard.until(timeout, nanos));
    }

    @Override
    public final Promise<T> cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        return guarded("cancelOn", guard -> guard.rejectOn(cancellation));
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
        RegistryEntry present = presentEntry();
        return present == null ? null : present.createdAt;
    }

    @Override
    public final EventLoop loop() {
        return home.host.loop();
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
