package dev.gyre.internal.promise;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// A promise: its outcome, and what waits for that.
///
/// Only the loop thread settles it, so that settling needs no atomic instruction. Other threads read the state with
/// acquire, and what they find settled stays so.
public sealed class LoopPromise<T extends @Nullable Object> implements Promise<T>
        permits Step, Combination {
    private static final int PENDING = 0;

    /// Pending, and only the promise that it follows may settle it. That one is in `value` meanwhile.
    private static final int FOLLOWING = 1;

    private static final int RESOLVED = 2;
    private static final int REJECTED = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LoopPromise.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Promises home;
    private final long id;
    private final @Nullable Throwable createdAt;

    // Shared: written by the loop thread, `state` last and with release; read by any.
    private int state;
    private @Nullable Object value;

    // Loop thread only: null, one reaction, or several.
    private @Nullable Object reactions;

    // Shared: set by whoever will hear of a rejection, read by the loop thread. A late one is
    // reported in vain.
    private boolean handled;

    LoopPromise(Promises home) {
        this.home = home;
        id = home.nextId();
        createdAt = home.trace();
    }

    // ------------------------------------------------------------------ settling

    final boolean isPending() {
        return state <= FOLLOWING;
    }

    final boolean isResolved() {
        return state == RESOLVED;
    }

    /// Whether it will be settled when some other promise is.
    boolean isDerived() {
        return state == FOLLOWING;
    }

    /// Whether nothing decides its outcome yet.
    final boolean isOpen() {
        return state == PENDING;
    }

    /// Only when resolved, or for the reason when rejected.
    final @Nullable Object settledValue() {
        return value;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // a resolved promise has been given its own type
    final T resolvedValue() {
        return (T) value;
    }

    /// Only when rejected.
    public final Throwable reason() {
        Throwable reason = (Throwable) value;
        assert reason != null : "rejected without a reason";
        return reason;
    }

    final boolean settleResolved(@Nullable Object value) {
        return settle(RESOLVED, value);
    }

    final boolean settleRejected(Throwable reason) {
        return settle(REJECTED, reason);
    }

    /// Takes over the outcome of one that is settled.
    final boolean settleLike(LoopPromise<?> settled) {
        return settle(settled.state, settled.value);
    }

    private boolean settle(int outcome, @Nullable Object value) {
        if (!isPending()) {
            return false;
        }
        Object waiting = reactions;
        reactions = null;
        this.value = value;
        STATE.setRelease(this, outcome); // Pairs with the acquire in isSettled().
        if (outcome == REJECTED && !handled) {
            home.noteUnhandled(this);
        }
        if (waiting instanceof Reaction one) {
            home.trigger(one);
        } else if (waiting instanceof Reactions several) {
            several.trigger(home);
        }
        return true;
    }

    /// Lets it settle as the other one does. Only while it [#isOpen()].
    final void follow(LoopPromise<? extends T> other) {
        if (leadsHere(other)) {
            settleRejected(
                    new IllegalStateException(
                            this + " was told to follow itself: it would never settle"));
        } else if (other.home == home && !other.isPending()) {
            other.handled = true;
            settleLike(other);
        } else {
            value = other;
            state = FOLLOWING;
            other.observe(new Follower(this, other), home);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the very same promise
    private boolean leadsHere(LoopPromise<?> other) {
        LoopPromise<?> next = other;
        while (next != this && next.home == home && next.state == FOLLOWING) {
            next = (LoopPromise<?>) Objects.requireNonNull(next.value);
        }
        return next == this;
    }

    private record Follower(LoopPromise<?> follower, LoopPromise<?> followed) implements Reaction {
        @Override
        public void run() {
            follower.settleLike(followed);
        }
    }

    // ------------------------------------------------------------------ reacting

    /// Runs the reaction when settled, at once in the order of microtasks if it is.
    final void react(Reaction reaction) {
        handled = true;
        if (isPending()) {
            attach(reaction);
        } else {
            home.trigger(reaction);
        }
    }

    /// Without having heard of a rejection: for what only tidies up. Only while pending.
    final void attach(Reaction reaction) {
        Object present = reactions;
        if (present == null) {
            reactions = reaction;
        } else if (present instanceof Reaction first) {
            reactions = new Reactions(first, reaction);
        } else {
            ((Reactions) present).add(reaction);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the one that was attached
    final void detach(Reaction reaction) {
        if (reactions == reaction) {
            reactions = null;
        } else if (reactions instanceof Reactions several) {
            several.remove(reaction);
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
        return Subscription.of(this, () -> where.host.submitPriority((Delivery) reaction::run));
    }

    /// Rejects it when that is cancelled, unless it is settled before.
    final void rejectOn(Cancellation cancellation) {
        Throwable already = cancellation.reason();
        if (already != null) {
            settleRejected(
                    already); // At once: a delivery might come behind what it should precede.
            return;
        }
        Cancellation.Registration registration =
                cancellation.onCancel(() -> deliverRejection(cancellation));
        if (isPending()) {
            attach((Notice) registration::close);
        } else {
            registration.close();
        }
    }

    /// Any thread.
    private void deliverRejection(Cancellation cancelled) {
        Throwable reason = Objects.requireNonNull(cancelled.reason());
        if (home.host.isRunHere()) {
            settleRejected(reason);
        } else {
            // Refused if the loop is over: then it has been rejected.
            home.host.submitPriority((Delivery) () -> settleRejected(reason));
        }
    }

    final void markHandled() {
        handled = true;
    }

    final boolean isHandled() {
        return handled;
    }

    // ------------------------------------------------------------------ steps

    /// This, for a step to be made of it: who may not attach one may not take its number either.
    private LoopPromise<T> confined(String method) {
        home.host.requireConfined(method);
        return this;
    }

    private <P extends Step<T, ?>> P attached(String method, P step) {
        return home.isOpenHere() ? begun(step) : home.whileOpen(method, () -> begun(step));
    }

    private Promise<T> guarded(String method, Consumer<Guard<T>> terms) {
        return home.isOpenHere() ? guarded(terms) : home.whileOpen(method, () -> guarded(terms));
    }

    private Promise<T> guarded(Consumer<Guard<T>> terms) {
        Guard<T> guard = new Guard<>(this);
        terms.accept(guard);
        return begun(guard);
    }

    private <P extends Step<T, ?>> P begun(P step) {
        if (step.isPending()) {
            home.register(step);
            react(step);
        } else {
            handled = true; // A guard that was cancelled already waits for nothing.
        }
        return step;
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> handler) {
        Objects.requireNonNull(handler, "handler");
        return attached("then", new Steps.Then<>(confined("then"), handler));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected) {
        Objects.requireNonNull(onResolved, "onResolved");
        Objects.requireNonNull(onRejected, "onRejected");
        return attached("then", new Steps.Either<>(confined("then"), onResolved, onRejected));
    }

    @Override
    public final Promise<@Nullable Void> thenAccept(Action<? super T> action) {
        Objects.requireNonNull(action, "action");
        return attached("thenAccept", new Steps.Accept<>(confined("thenAccept"), action));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler) {
        Objects.requireNonNull(handler, "handler");
        return attached("thenCompose", new Steps.Compose<>(confined("thenCompose"), handler));
    }

    @Override
    public final Promise<T> recover(Handler<? super Throwable, ? extends T> handler) {
        Objects.requireNonNull(handler, "handler");
        return attached(
                "recover", new Steps.Recover<>(confined("recover"), Throwable.class, handler));
    }

    @Override
    public final <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(handler, "handler");
        return attached("recover", new Steps.Recover<>(confined("recover"), type, handler));
    }

    @Override
    public final Promise<T> recoverCompose(
            Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
        Objects.requireNonNull(handler, "handler");
        return attached(
                "recoverCompose", new Steps.RecoverCompose<>(confined("recoverCompose"), handler));
    }

    @Override
    public final Promise<T> finallyRun(Cleanup cleanup) {
        Objects.requireNonNull(cleanup, "cleanup");
        return attached("finallyRun", new Steps.Finally<>(confined("finallyRun"), cleanup));
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
    public final boolean isSettled() {
        return (int) STATE.getAcquire(this) >= RESOLVED;
    }

    @Override
    public final @Nullable Outcome<T> outcome() {
        return switch ((int) STATE.getAcquire(this)) {
            case RESOLVED -> new Outcome.Resolved<>(resolvedValue());
            case REJECTED -> new Outcome.Rejected<>(reason());
            default -> null;
        };
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
        return id;
    }

    @Override
    public final @Nullable Throwable createdAt() {
        return createdAt;
    }

    @Override
    public final EventLoop loop() {
        return home.host.loop();
    }

    @Override
    public final String toString() {
        return "Promise#"
                + id
                + switch ((int) STATE.getAcquire(this)) {
                    case RESOLVED -> "[resolved]";
                    case REJECTED -> "[rejected: " + reason().getClass().getName() + "]";
                    default -> "[pending]";
                };
    }
}
