package dev.gyre.internal.cancel;

import dev.gyre.Cancellation.Registration;
import dev.gyre.CancelledException;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

/// A token's fate: open, or cancelled for a reason that never changes; and those who want to hear of it.
///
/// Deciding and telling are two steps. Whoever looks at a linked token or a deadline may be the first to
/// see that it is cancelled, and decides it; but a look runs no callbacks, so telling is left to the
/// one who cancels, or the deadline's timer.
///
/// **Locks.** The lock is this object, which no user sees. Listeners are taken out one by one and
/// run without it, so one that has not begun can still be closed, by another listener too. A linked token
/// takes the locks of its roots while it holds its own; a root never takes that of a linked token.
/// As a linked token has no parents but roots, that is all the order there is.
final class CancellationState {
    private final ListenerLifecycle upstream;

    // Shared: written once, under the lock; read by any thread.
    private volatile @Nullable CancelledException reason;

    // Shared: guarded by the lock.
    private @Nullable Listener first;
    private @Nullable Listener last;
    private boolean told;

    CancellationState(ListenerLifecycle upstream) {
        this.upstream = upstream;
    }

    @Nullable CancelledException reason() {
        return reason;
    }

    /// Cancels it for the given reason, unless it is cancelled already.
    ///
    /// @return the reason that counts
    CancelledException decide(CancelledException proposed) {
        synchronized (this) {
            CancelledException decided = reason;
            if (decided == null) {
                decided = proposed;
                reason = proposed;
            }
            return decided;
        }
    }

    /// Runs the callback when it is told, or at once if it is decided.
    Registration listen(Runnable callback) {
        StackReserve.requireMedium();
        if (reason == null) {
            Listener listener = new Listener(this, callback);
            if (add(listener)) {
                return listener;
            }
        }
        callback.run();
        return NeverCancelled.NOTHING_REGISTERED;
    }

    /// Takes a new listener in.
    ///
    /// @return false if it is cancelled
    boolean add(Listener listener) {
        synchronized (this) {
            if (reason != null || (first == null && !upstream.attach())) {
                return false;
            }
            listener.previous = last;
            if (last == null) {
                first = listener;
            } else {
                last.next = listener;
            }
            last = listener;
            return true;
        }
    }

    /// Takes a listener out, unless it is out already.
    void remove(Listener listener) {
        synchronized (this) {
            if (listener.callback != null) {
                unlink(listener);
                if (first == null) {
                    upstream.detach();
                }
            }
        }
    }

    /// Whether anyone waits to hear. With the lock held, if the answer is to stay true.
    boolean hasListeners() {
        synchronized (this) {
            return first != null;
        }
    }

    /// Runs the listeners of a decided fate, unless another thread does or has done so. Throws the first of
    /// what they throw, when all have run.
    void tell() {
        Throwable thrown = null;
        synchronized (this) {
            assert reason != null : "told before it was decided";
            if (told) {
                return;
            }
            told = true;
            try {
                upstream.detach();
            } catch (Throwable e) {
                thrown = e; // Notify the remaining listeners.
            }
        }
        for (Runnable callback = take(); callback != null; callback = take()) {
            try {
                callback.run();
            } catch (Throwable e) {
                thrown = Throwables.firstOf(thrown, e);
            }
        }
        if (thrown != null) {
            throw Throwables.asItIs(thrown);
        }
    }

    private @Nullable Runnable take() {
        synchronized (this) {
            Listener listener = first;
            if (listener == null) {
                return null;
            }
            Runnable callback = listener.callback;
            unlink(listener);
            return callback;
        }
    }

    private void unlink(Listener listener) {
        Listener previous = listener.previous;
        Listener next = listener.next;
        if (previous == null) {
            first = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            last = previous;
        } else {
            next.previous = previous;
        }
        listener.previous = null;
        listener.next = null;
        listener.callback = null;
    }
}
