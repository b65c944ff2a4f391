package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.function.Consumer;

/// Watches a descriptor: selects the callbacks for each event, clauses W-3 and W-5 to W-7.
public final class LoopWatcher implements Watcher, ReadinessHandler, FdLifetime.User {
    final FdLifetime lifetime;
    private final Watchers watchers;
    private final WeakReference<OpenDescriptor> descriptor;

    /// A descriptor that its watcher keeps reachable; null for others.
    private final @Nullable OpenDescriptor strong;

    // Shared: written under the lock of Watchers, read by the loop without.
    volatile boolean registered;

    // Shared: guarded by the lock of Watchers; the loop alone writes `armed` and reads it without.
    boolean referenced = true;
    boolean armed;

    // Loop thread only.
    private WatchSpec watch;

    /// Keeps the descriptor reachable during the callbacks of an event.
    private @Nullable OpenDescriptor held;

    private int events;

    /// The callbacks of the event that have not run yet: ERROR, READ or WRITE of [Readiness].
    private int callbacksLeft;

    private @Nullable Consumer<? super Watcher> selected;
    private boolean rearmed;

    /// Whether the kernel reports changes only, because a lasting condition is unwanted.
    private boolean edgeOnly;

    LoopWatcher(Watchers watchers, OpenDescriptor descriptor, WatchSpec watch) {
        this.watchers = watchers;
        this.descriptor = new WeakReference<>(descriptor);
        this.strong = descriptor.isHeldWhileWatched() ? descriptor : null;
        this.lifetime = descriptor.lifetime();
        this.watch = watch;
    }

    @Override
    public void onReady(int events) {
        callbacksLeft = 0;
        OpenDescriptor target = descriptor.get();
        if (target == null || !lifetime.isOpen()) {
            watchers.remove(this);
            return;
        }
        if (!armed) {
            // Rearmed while its event was queued, it ran for that event, and this is the second.
            return;
        }
        if (watchers.suspended) {
            updateInterest(0);
            return;
        }
        int callbacks = callbacksFor(events);
        if (callbacks == 0) {
            onUnwantedReadiness();
            return;
        }
        if (edgeOnly) {
            edgeOnly = false;
            updateInterest(interest(watch));
        }
        held = target;
        this.events = events;
        callbacksLeft = callbacks;
        rearmed = false;
    }

    private int callbacksFor(int events) {
        boolean error = (events & Readiness.ERROR) != 0;
        if (error && watch.errorCallback() != null) {
            return Readiness.ERROR;
        }
        int callbacks = 0;
        if (watch.readCallback() != null
                && (error || (events & (Readiness.READ | Readiness.HANGUP)) != 0)) {
            callbacks |= Readiness.READ;
        }
        if (watch.writeCallback() != null && (error || (events & Readiness.WRITE) != 0)) {
            callbacks |= Readiness.WRITE;
        }
        return callbacks;
    }

    /// Handles an event that selects no callback.
    ///
    /// A hang-up lasts, and the kernel reports it without interest: a watcher that only writes
    /// would make the loop spin. It switches to edge-triggered until an event is wanted.
    private void onUnwantedReadiness() {
        if (watch.isOneShot()) {
            if (rearmed) {
                // The event may be of the previous interest: it does not use up the one shot.
                rearmed = false;
                updateInterest(interest(watch));
            } else {
                watchers.setArmed(this, false);
            }
        } else if (!edgeOnly && !watch.isEdgeTriggered()) {
            edgeOnly = true;
            updateInterest(interest(watch) | Readiness.EDGE);
        }
    }

    private void updateInterest(int interest) {
        try {
            watchers.modify(this, interest);
        } catch (SystemCallException e) {
            // The fd was closed externally: the watcher is removed, and no call of the user fails.
            assert !registered;
        }
    }

    @Override
    public boolean nextCallback() {
        while (callbacksLeft != 0) {
            Consumer<? super Watcher> next = removeFirstCallback();
            if (next != null && registered && !watchers.suspended && lifetime.isOpen()) {
                selected = next;
                return true;
            }
        }
        if (held != null) {
            finishEvent();
        }
        return false;
    }

    /// In the order error, read, write (W-5).
    private @Nullable Consumer<? super Watcher> removeFirstCallback() {
        if ((callbacksLeft & Readiness.ERROR) != 0) {
            callbacksLeft &= ~Readiness.ERROR;
            return watch.errorCallback();
        }
        if ((callbacksLeft & Readiness.READ) != 0) {
            callbacksLeft &= ~Readiness.READ;
            return watch.readCallback();
        }
        callbacksLeft = 0;
        return watch.writeCallback();
    }

    @Override
    public void runCallback() {
        Consumer<? super Watcher> callback = selected;
        assert callback != null : "W-5: no callback is selected";
        selected = null;
        try {
            callback.accept(this);
        } finally {
            if (callbacksLeft == 0) {
                finishEvent();
            }
        }
    }

    private void finishEvent() {
        held = null;
        events = 0;
        if (watch.isOneShot() && !rearmed) {
            watchers.setArmed(this, false); // The kernel disarmed it when it reported the event.
        }
    }

    @Override
    public Descriptor descriptor() {
        watchers.context.requireConfined("descriptor");
        OpenDescriptor target = strong != null ? strong : held != null ? held : descriptor.get();
        if (target == null) {
            throw new IllegalStateException(
                    lifetime
                            + " was collected: a watcher does not keep its descriptor reachable,"
                            + " so keep a reference to it");
        }
        return target;
    }

    @Override
    public boolean isError() {
        watchers.context.requireConfined("isError");
        return (events & Readiness.ERROR) != 0;
    }

    @Override
    public boolean isHangUp() {
        watchers.context.requireConfined("isHangUp");
        return (events & Readiness.HANGUP) != 0;
    }

    @Override
    public Watcher modify(WatchSpec wanted) {
        Objects.requireNonNull(wanted, "watch");
        watchers.context.requireOpen("modify");
        if (!registered || !lifetime.isOpen()) {
            throw new IllegalStateException(
                    lifetime + " is no longer watched by this watcher: watch it again");
        }
        watch = wanted;
        rearmed = true;
        edgeOnly = false;
        int interest = interest(wanted);
        watchers.modify(this, interest);
        watchers.setArmed(this, interest != 0);
        return this;
    }

    @Override
    public Watcher rearm() {
        return modify(watch);
    }

    @Override
    public void unwatch() {
        watchers.context.requireConfined("unwatch");
        watchers.remove(this);
    }

    @Override
    public boolean isWatching() {
        watchers.context.requireConfined("isWatching");
        return registered && lifetime.isOpen();
    }

    @Override
    public boolean isArmed() {
        watchers.context.requireConfined("isArmed");
        return registered && armed;
    }

    @Override
    public Watcher unreference() {
        watchers.context.requireConfined("unreference");
        watchers.setReferenced(this, false);
        return this;
    }

    @Override
    public Watcher reference() {
        watchers.context.requireConfined("reference");
        watchers.setReferenced(this, true);
        return this;
    }

    /// Registers with the backend. Called by [FdLifetime#attach], while the fd is certainly open.
    @Override
    public void attached() {
        watchers.register(this, interest(watch));
    }

    /// Deregisters before the fd is closed. Any thread.
    @Override
    public void descriptorClosing() {
        watchers.removeClosed(this);
    }

    @Override
    public boolean isWatcher() {
        return true;
    }

    boolean keepsLoopAlive() {
        return registered && armed && referenced;
    }

    static int interest(WatchSpec watch) {
        int interest = 0;
        if (watch.readCallback() != null) {
            interest |= Readiness.READ;
        }
        if (watch.writeCallback() != null) {
            interest |= Readiness.WRITE;
        }
        if (interest == 0) {
            return 0;
        }
        if (watch.isEdgeTriggered()) {
            interest |= Readiness.EDGE;
        }
        if (watch.isOneShot()) {
            interest |= Readiness.ONE_SHOT;
        }
        return interest;
    }
}
