package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/// The state of a promise, its value or reason, and its reactions.
///
/// Only the loop thread settles a promise, so settling needs no atomic instruction. Other threads
/// read the state with acquire. A settled promise never changes.
abstract sealed class PromiseState<T extends @Nullable Object> permits LoopPromise {
    private static final byte PENDING = 0;

    /// Pending, and only the followed promise may settle it. `value` holds that promise.
    private static final byte FOLLOWING = 1;

    private static final byte RESOLVED = 2;
    private static final byte REJECTED = 3;

    private static final VarHandle STATE;
    private static final VarHandle ENTRY;

    static {
        try {
            var lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(PromiseState.class, "state", byte.class);
            ENTRY = lookup.findVarHandle(PromiseState.class, "entry", Registry.Entry.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Promises owner;

    // Shared: written by the loop thread, `state` last and with release; read by any thread.
    private byte state;
    private @Nullable Object value;

    // Loop thread only: null, a Reaction, or Reactions.
    private @Nullable Object reactions;

    // Shared: created by the first thread that needs it. Most promises settle within their tick and
    // need none.
    private Registry.@Nullable Entry entry;

    // Shared: set by any thread that handles a rejection, read by the loop thread. If set too late,
    // the rejection is reported as unhandled.
    private boolean handled;

    PromiseState(Promises owner) {
        this.owner = owner;
        if (owner.tracing) {
            entry = owner.newEntry(promise());
        }
    }

    private LoopPromise<T> promise() {
        return (LoopPromise<T>) this;
    }

    final boolean isPending() {
        return state <= FOLLOWING;
    }

    final boolean isResolved() {
        return state == RESOLVED;
    }

    /// Returns whether it is pending and follows no other promise.
    final boolean isUnresolved() {
        return state == PENDING;
    }

    final @Nullable LoopPromise<?> followed() {
        return state == FOLLOWING ? (LoopPromise<?>) value : null;
    }

    /// Any thread.
    public final boolean isSettled() {
        return (byte) STATE.getAcquire(this) >= RESOLVED;
    }

    /// Returns the value if resolved, the reason if rejected.
    final @Nullable Object settledValue() {
        return value;
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // a resolved promise holds a T
    final T resolvedValue() {
        return (T) value;
    }

    /// Returns the reason. Only if rejected.
    public final Throwable reason() {
        Throwable reason = (Throwable) value;
        assert reason != null : "rejected without a reason";
        return reason;
    }

    /// Returns the entry, created if absent. Any thread.
    final Registry.Entry entry() {
        Registry.Entry present = entryIfPresent();
        if (present != null) {
            return present;
        }
        Registry.Entry created = owner.newEntry(promise());
        Registry.Entry before = (Registry.Entry) ENTRY.compareAndExchange(this, null, created);
        return before == null ? created : before;
    }

    /// Any thread.
    final Registry.@Nullable Entry entryIfPresent() {
        return (Registry.Entry) ENTRY.getAcquire(this);
    }

    final boolean settleResolved(@Nullable Object value) {
        return settle(RESOLVED, value);
    }

    final boolean settleRejected(Throwable reason) {
        return settle(REJECTED, reason);
    }

    /// Adopts the outcome of a settled promise.
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
            owner.microtasks.ensureCapacity(
                    waiting instanceof Reactions several ? several.size() : 1);
        }
        if (outcome == REJECTED && !handled) {
            owner.unhandled.ensureCapacity();
        }
        this.value = value;
        STATE.setRelease(this, outcome); // Pairs with the acquire in isSettled().
        if (entry != null) {
            owner.registry.onSettled(entry);
        }
        if (outcome == REJECTED && !handled) {
            owner.unhandled.add(promise());
        }
        // A check against a class is cheaper than one against an interface.
        if (waiting instanceof Step<?, ?> step) {
            reactions = null;
            owner.enqueue(step);
        } else if (waiting != null) {
            reactions = null;
            notifyOther(waiting);
        }
        return true;
    }

    private void notifyOther(Object waiting) {
        if (waiting instanceof Reactions several) {
            several.notifySettled(owner);
        } else {
            owner.notifySettled((Reaction) waiting);
        }
    }

    /// From now on only the other promise settles it.
    final void startFollowing(LoopPromise<?> other) {
        value = other;
        state = FOLLOWING;
    }

    /// Runs the reaction on settlement. If already settled, enqueues it at once.
    final void react(Reaction reaction) {
        handled = true;
        if (isPending()) {
            attach(reaction);
        } else {
            owner.notifySettled(reaction);
        }
    }

    /// Attaches a reaction that does not count as a handler of a rejection. Only while pending.
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

    @SuppressWarnings("ReferenceEquality") // identity of reactions
    final void detach(Reaction reaction) {
        if (reactions == reaction) {
            reactions = null;
        } else if (reactions instanceof Reactions several) {
            several.remove(reaction);
        }
    }

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
