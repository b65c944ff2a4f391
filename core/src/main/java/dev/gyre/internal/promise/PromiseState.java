package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/// Whether a promise is settled, with what, and what waits for that.
///
/// Only the loop thread settles it, so that settling needs no atomic instruction. Other threads read the state with
/// acquire, and what they find settled stays so.
abstract sealed class PromiseState<T extends @Nullable Object> permits LoopPromise {
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
            STATE = lookup.findVarHandle(PromiseState.class, "state", byte.class);
            ENTRY = lookup.findVarHandle(PromiseState.class, "entry", RegistryEntry.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Promises owner;

    // Shared: written by the loop thread, `state` last and with release; read by any.
    private byte state;
    private @Nullable Object value;

    // Loop thread only: null, one reaction, or several.
    private @Nullable Object reactions;

    // Shared: made by whoever needs it first. Few do: most promises are settled within their tick.
    private @Nullable RegistryEntry entry;

    // Shared: set by whoever will hear of a rejection, read by the loop thread. A late one is
    // reported in vain.
    private boolean handled;

    PromiseState(Promises home) {
        this.owner = home;
        if (home.isTracing()) {
            entry = home.newEntry(promise());
        }
    }

    private LoopPromise<T> promise() {
        return (LoopPromise<T>) this;
    }

    // ------------------------------------------------------------------ looking

    final boolean isPending() {
        return state <= FOLLOWING;
    }

    final boolean isResolved() {
        return state == RESOLVED;
    }

    /// Whether nothing decides its outcome yet.
    final boolean isUnresolved() {
        return state == PENDING;
    }

    /// The promise that it follows, if it does.
    final @Nullable LoopPromise<?> followed() {
        return state == FOLLOWING ? (LoopPromise<?>) value : null;
    }

    /// Any thread.
    public final boolean isSettled() {
        return (byte) STATE.getAcquire(this) >= RESOLVED;
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

    /// Its number, and what else only few promises need. Any thread.
    final RegistryEntry entry() {
        RegistryEntry present = entryIfPresent();
        if (present != null) {
            return present;
        }
        RegistryEntry made = owner.newEntry(promise());
        RegistryEntry before = (RegistryEntry) ENTRY.compareAndExchange(this, null, made);
        return before == null ? made : before;
    }

    /// The same, if anybody has needed it. Any thread.
    final @Nullable RegistryEntry entryIfPresent() {
        return (RegistryEntry) ENTRY.getAcquire(this);
    }

    // ------------------------------------------------------------------ settling

    final boolean settleResolved(@Nullable Object value) {
        return settle(RESOLVED, value);
    }

    final boolean settleRejected(Throwable reason) {
        return settle(REJECTED, reason);
    }

    /// Takes over the outcome of one that is settled.
    final boolean settleLike(PromiseState<?> settled) {
        return settle(settled.state, settled.value);
    }

    private boolean settle(byte outcome, @Nullable Object value) {
        if (!isPending()) {
            return false;
        }
        Object waiting = reactions;
        // Fallible steps first: a settled promise must notify all its reactions.
        if (waiting != null) {
            owner.ensureCapacity(waiting instanceof Reactions several ? several.size() : 1);
        }
        if (outcome == REJECTED && !handled) {
            owner.unhandled.ensureCapacity();
        }
        this.value = value;
        STATE.setRelease(this, outcome); // Pairs with the acquire in isSettled().
        if (entry != null) {
            owner.onSettled(entry);
        }
        if (outcome == REJECTED && !handled) {
            owner.onUnhandled(promise());
        }
        // To ask for a class is cheap, for an interface less so.
        if (waiting instanceof Step<?, ?> step) {
            reactions = null;
            owner.enqueue(step);
        } else if (waiting != null) {
            reactions = null;
            triggerOther(waiting);
        }
        return true;
    }

    private void triggerOther(Object waiting) {
        if (waiting instanceof Reactions several) {
            several.trigger(owner);
        } else {
            owner.notifySettled((Reaction) waiting);
        }
    }

    /// From now on only that promise settles it.
    final void startFollowing(LoopPromise<?> other) {
        value = other;
        state = FOLLOWING;
    }

    // ------------------------------------------------------------------ reacting

    /// Runs the reaction when settled, at once in the order of microtasks if it is.
    final void react(Reaction reaction) {
        handled = true;
        if (isPending()) {
            attach(reaction);
        } else {
            owner.notifySettled(reaction);
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

    /// Adds the steps that wait for it.
    final void collectSteps(List<Step<?, ?>> into) {
        if (reactions instanceof Step<?, ?> step) {
            into.add(step);
        } else if (reactions instanceof Reactions several) {
            several.collectSteps(into);
        }
    }

    final void markHandled() {
        handled = true;
    }

    final boolean isHandled() {
        return handled;
    }
}
