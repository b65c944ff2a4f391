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
    private static final byte PENDING = 0;

    /// Pending, and only the promise that it follows may settle it. That one is in `value` meanwhile.
    private static final byte FOLLOWING = 1;

    private static final byte RESOLVED = 2;
    private static final byte REJECTED = 3;

    private static final VarHandle STATE;
    private static final VarHandle ENTRY;

    static {
        try {
            var lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(LoopPromise.class, "state", byte.class);
            ENTRY = lookup.findVarHandle(LoopPromise.class, "entry", Entry.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Promises home;

    // Shared: written by the loop thread, `state` last and with release; read by any.
    private byte state;
    private @Nullable Object value;

    // Loop thread only: null, one reaction, or several.
    private @Nullable Object reactions;

    // Shared: made by whoever needs it first. Few do: most promises are settled within their tick.
    private @Nullable Entry entry;

    // Shared: set by whoever will hear of a rejection, read by the loop thread. A late one is
    // reported in vain.
    private boolean handled;

    LoopPromise(Promises home) {
        this.home = home;
        if (home.isTracing()) {
            entry = home.newEntry(this);
        }
    }

    // ------------------------------------------------------------------ settling

    final boolean isPending() {
        return state <= FOLLOWING;
    }

    final boolean isResolved() {
        return state == RESOLVED;
    }

    /// Its number, and what else only few promises need. Any thread.
    final Entry entry() {
        Entry present = (Entry) ENTRY.getAcquire(this);
        if (present != null) {
            return present;
        }
        Entry made = home.newEntry(this);
        Entry before = (Entry) ENTRY.compareAndExchange(this, null, made);
        return before == null ? made : before;
    }

    /// Whether it will be settled when some other promise of this loop is.
    @SuppressWarnings("ReferenceEquality") // a loop is only itself
    boolean isDerived() {
        return state == FOLLOWING && value instanceof LoopPromise<?> other && other.home == home;
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

    private boolean settle(byte outcome, @Nullable Object value) {
        if (!isPending()) {
            return false;
        }
        Object waiting = reactions;
        reactions = null;
        this.value = value;
        STATE.setRelease(this, outcome); // Pairs with the acquire in isSettled().
        if (entry != null) {
            entry.noteSettled();
        }
        if (outcome == REJECTED && !handled) {
            home.noteUnhandled(this);
        }
        if (waiting instanceof Step<?, ?> step) { // To ask for a class is cheap, for an interface less so.
            home.react(step);
        } else if (waiting != null) {
            triggerOther(waiting);
        }
        return true;
    }

    private void triggerOther(Object waiting) {
        if (waiting instanceof Reactions several) {
            several.trigger(home);
        } else {
            home.trigger((Reaction) waiting);
        }
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
        } else if (present instanceof Reactions several) {
            several.add(reaction);
        } else {
            reactions = new Reactions((Reaction) present, reaction);
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

    /// Before a step is made: who may not attach one gets the refusal, and nothing else.
    private void requireOpen(String method) {
        if (!home.isOpenHere()) {
            home.host.requireOpen(method);
        }
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
        requireOpen("then");
        return attached("then", new Steps.Then<>(this, handler));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> then(
            Handler<? super T, ? extends R> onResolved,
            Handler<? super Throwable, ? extends R> onRejected) {
        Objects.requireNonNull(onResolved, "onResolved");
        Objects.requireNonNull(onRejected, "onRejected");
        requireOpen("then");
        return attached("then", new Steps.Either<>(this, onResolved, onRejected));
    }

    @Override
    public final Promise<@Nullable Void> thenAccept(Action<? super T> action) {
        Objects.requireNonNull(action, "action");
        requireOpen("thenAccept");
        return attached("thenAccept", new Steps.Accept<>(this, action));
    }

    @Override
    public final <R extends @Nullable Object> Promise<R> thenCompose(
            Handler<? super T, ? extends Promise<? extends R>> handler) {
        Objects.requireNonNull(handler, "handler");
        requireOpen("thenCompose");
        return attached("thenCompose", new Steps.Compose<>(this, handler));
    }

    @Override
    public final Promise<T> recover(Handler<? super Throwable, ? extends T> handler) {
        Objects.requireNonNull(handler, "handler");
        requireOpen("recover");
        return attached("recover", new Steps.Recover<>(this, Throwable.class, handler));
    }

    @Override
    public final <X extends Throwable> Promise<T> recover(
            Class<X> type, Handler<? super X, ? extends T> handler) {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(handler, "handler");
        requireOpen("recover");
        return attached("recover", new Steps.Recover<>(this, type, handler));
    }

    @Override
    public final Promise<T> recoverCompose(
            Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
        Objects.requireNonNull(handler, "handler");
        requireOpen("recoverCompose");
        return attached("recoverCompose", new Steps.RecoverCompose<>(this, handler));
    }

    @Override
    public final Promise<T> finallyRun(Cleanup cleanup) {
        Objects.requireNonNull(cleanup, "cleanup");
        requireOpen("finallyRun");
        return attached("finallyRun", new Steps.Finally<>(this, cleanup));
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
        return (byte) STATE.getAcquire(this) >= RESOLVED;
    }

    @Override
    public final @Nullable Outcome<T> outcome() {
        return switch ((byte) STATE.getAcquire(this)) {
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
        return entry().id;
    }

    @Override
    public final @Nullable Throwable createdAt() {
        Entry present = (Entry) ENTRY.getAcquire(this);
        return present == null ? null : present.createdAt;
    }

    @Override
    public final EventLoop loop() {
        return home.host.loop();
    }

    @Override
    public final String toString() {
        return "Promise#"
                + id()
                + switch ((byte) STATE.getAcquire(this)) {
                    case RESOLVED -> "[resolved]";
                    case REJECTED -> "[rejected: " + reason().getClass().getName() + "]";
                    default -> "[pending]";
                };
    }
}
