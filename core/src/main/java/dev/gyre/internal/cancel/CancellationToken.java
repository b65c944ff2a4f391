package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.internal.base.IntrusiveList;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// A cancellation that can be cancelled, with its reason and its listeners.
///
/// Setting the reason and notifying listeners are two steps. A thread that queries a linked token
/// or a deadline may be the first to find it cancelled. It sets the reason, but a query runs no
/// callbacks. The thread that cancels, or the deadline's timer, notifies the listeners.
///
/// **Locks.** The lock is private, because users hold the token. Listeners are removed one by one
/// and run without the lock. A listener that has not begun can still be closed, also by another
/// listener. A linked token acquires the locks of its roots while it holds its own. A root never
/// acquires the lock of a linked token, and the parents of linked tokens are always roots. So the
/// lock order has no cycle.
public abstract sealed class CancellationToken implements Cancellation
        permits SourceToken, DeadlineToken, LinkedToken {
    // Shared: written once, under the lock; read by any thread.
    private volatile @Nullable CancelledException reason;

    // Shared: guarded by the lock, which is the list itself.
    private final IntrusiveList<Listener> listeners = new IntrusiveList<>();
    private boolean notified;

    static final class Listener extends IntrusiveList.Node<Listener> implements Registration {
        private final CancellationToken token;

        /// Null once it was dequeued to run or was closed: a registration may be kept for long.
        private @Nullable Runnable callback;

        Listener(CancellationToken token, Runnable callback) {
            this.token = token;
            this.callback = callback;
        }

        @Override
        public void close() {
            token.remove(this);
        }
    }

    /// Returns the lock, which users cannot reach.
    final Object lock() {
        return listeners;
    }

    /// Connects the token to its trigger when the first listener is added. Called with the lock
    /// held. If this throws, the listener is not added.
    ///
    /// @return false if the token is cancelled already
    boolean attach() {
        return true;
    }

    /// Disconnects the token from its trigger after the last listener was removed. Called with the
    /// lock held, possibly repeatedly.
    void detach() {}

    @Override
    public @Nullable CancelledException reason() {
        return reason;
    }

    /// Sets the reason if the token is not cancelled.
    ///
    /// @return the effective reason
    final CancelledException setReason(CancelledException proposed) {
        synchronized (lock()) {
            CancelledException effective = reason;
            if (effective == null) {
                effective = proposed;
                reason = proposed;
            }
            return effective;
        }
    }

    @Override
    public final Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        StackReserve.requireMedium();
        if (reason() == null) {
            Listener listener = new Listener(this, callback);
            if (add(listener)) {
                return listener;
            }
        }
        callback.run();
        return NeverCancelled.NO_REGISTRATION;
    }

    /// Returns false if the token is cancelled.
    final boolean add(Listener listener) {
        synchronized (lock()) {
            if (reason != null || (listeners.isEmpty() && !attach())) {
                return false;
            }
            listeners.add(listener);
            return true;
        }
    }

    private void remove(Listener listener) {
        synchronized (lock()) {
            if (listeners.contains(listener)) {
                listeners.remove(listener);
                listener.callback = null;
                if (listeners.isEmpty()) {
                    detach();
                }
            }
        }
    }

    /// Requires the lock.
    final boolean hasListeners() {
        return !listeners.isEmpty();
    }

    /// Runs the listeners of a cancelled token once. Rethrows the first exception after all have
    /// run.
    final void notifyListeners() {
        Throwable thrown = null;
        synchronized (lock()) {
            assert reason != null : "notified before the reason was set";
            if (notified) {
                return;
            }
            notified = true;
            try {
                detach();
            } catch (Throwable e) {
                thrown = e; // Notify the remaining listeners.
            }
        }
        for (Runnable callback = poll(); callback != null; callback = poll()) {
            try {
                callback.run();
            } catch (Throwable e) {
                thrown = Throwables.firstOf(thrown, e);
            }
        }
        if (thrown != null) {
            throw Throwables.rethrow(thrown);
        }
    }

    private @Nullable Runnable poll() {
        synchronized (lock()) {
            Listener listener = listeners.poll();
            if (listener == null) {
                return null;
            }
            Runnable callback = listener.callback;
            listener.callback = null;
            return callback;
        }
    }
}
