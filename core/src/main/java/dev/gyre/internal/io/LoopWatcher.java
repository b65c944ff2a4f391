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

/// A watcher: decides for each event of its descriptor which callbacks it means, clauses W-3 and W-5 to
/// W-7.
public final class LoopWatcher implements Watcher, ReadinessHandler, FdLifetime.User {
    final FdLifetime opening;
    private final Watchers watchers;
    private final WeakReference<OpenDescriptor> descriptor;

    /// Keeps a descriptor that is to be held while it is watched; null for all others.
    private final @Nullable OpenDescriptor strong;

    // Shared: written under the lock of Watchers, read by the loop without.
    private volatile boolean watching;

    // Shared: guarded by the lock of Watchers; the loop alone writes `armed` and reads it without.
    private boolean referenced = true;
    private boolean armed;

    // Loop thread only.
    private WatchSpec watch;

    /// Holds the descriptor while its event is dispatched, so that callbacks find it.
    private @Nullable OpenDescriptor held;

    private int events;

    /// The callbacks of the event that have not run yet: ERROR, READ or WRITE of [Readiness].
    private int callbacksLeft;

    private @Nullable Consumer<? super Watcher> selected;

    /// Whether it was armed again since the event came.
    private boolean rearmed;

    /// Whether the kernel was asked to tell of changes only, because nobody wanted what lasts.
    private boolean quiet;

    LoopWatcher(Watchers watchers, OpenDescriptor descriptor, WatchSpec watch) {
        this.watchers = watchers;
        this.descriptor = new WeakReference<>(descriptor);
        this.strong = descriptor.isHeldWhileWatched() ? descriptor : null;
        this.opening = descriptor.lifetime();
        this.watch = watch;
    }

    // ------------------------------------------------------------------ dispatch

    @Override
    public void onReady(int events) {
        callbacksLeft = 0;
        OpenDescriptor target = descriptor.get();
        if (target == null || !opening.isOpen()) {
            watchers.remove(this);
            return;
        }
        if (!armed) {
            // Armed again while its event was on its way, it has used that one up, and this is the
            // second.
            return;
        }
        if (watchers.suspended) {
            tellKernel(0);
            return;
        }
        int callbacks = callbacksFor(events);
        if (callbacks == 0) {
            passOver();
            return;
        }
        if (quiet) {
            quiet = false;
            tellKernel(interest(watch));
        }
        held = target;
        this.events = events;
        callbacksLeft = callbacks;
        rearmed = false;
    }

    private int callbacksFor(int events) {
        boolean error = (events & Readiness.ERROR) != 0;
        if (error && watch.errorHandler() != null) {
            return Readiness.ERROR;
        }
        int callbacks = 0;
        if (watch.reader() != null
                && (error || (events & (Readiness.READ | Readiness.HANGUP)) != 0)) {
            callbacks |= Readiness.READ;
        }
        if (watch.writer() != null && (error || (events & Readiness.WRITE) != 0)) {
            callbacks |= Readiness.WRITE;
        }
        return callbacks;
    }

    /// For an event that calls for nothing.
    ///
    /// A hang-up lasts, and the kernel reports it whether anybody asked or not: for one who only
    /// writes the loop would spin on it. From now on changes only, until one of them is wanted.
    private void passOver() {
        if (watch.isOneShot()) {
            if (rearmed) {
                // Perhaps it was reported for what was watched before: that is not the one shot.
                rearmed = false;
                tellKernel(interest(watch));
            } else {
                watchers.setArmed(this, false);
            }
        } else if (!quiet && !watch.isEdgeTriggered()) {
            quiet = true;
            tellKernel(interest(watch) | Readiness.EDGE);
        }
    }

    private void tellKernel(int interest) {
        try {
            watchers.modify(this, interest);
        } catch (SystemCallException e) {
            // Closed behind our back: the watcher is gone by now, and nobody asked for this call.
            assert !watching;
        }
    }

    @Override
    public boolean nextCallback() {
        while (callbacksLeft != 0) {
            Consumer<? super Watcher> next = removeFirstCallback();
            if (next != null && watching && !watchers.suspended && opening.isOpen()) {
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
            return watch.errorHandler();
        }
        if ((callbacksLeft & Readiness.READ) != 0) {
            callbacksLeft &= ~Readiness.READ;
            return watch.reader();
        }
        callbacksLeft = 0;
        return watch.writer();
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

    // ------------------------------------------------------------------ what users call

    @Override
    public Descriptor descriptor() {
        watchers.host.requireConfined("descriptor");
        OpenDescriptor target = strong != null ? strong : held != null ? held : descriptor.get();
        if (target == null) {
            throw new IllegalStateException(
                    opening + " was collected: a watcher does not keep its descriptor");
        }
        return target;
    }

    @Override
    public boolean isError() {
        watchers.host.requireConfined("isError");
        return (events & Readiness.ERROR) != 0;
    }

    @Override
    public boolean isHangUp() {
        watchers.host.requireConfined("isHangUp");
        return (events & Readiness.HANGUP) != 0;
    }

    @Override
    public Watcher modify(WatchSpec wanted) {
        Objects.requireNonNull(wanted, "watch");
        watchers.host.requireOpen("modify");
        if (!watching || !opening.isOpen()) {
            throw new IllegalStateException(
                    opening + " is no longer watched by this watcher: watch it again");
        }
        watch = wanted;
        rearmed = true;
        quiet = false;
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
        watchers.host.requireConfined("unwatch");
        watchers.remove(this);
    }

    @Override
    public boolean isWatching() {
        watchers.host.requireConfined("isWatching");
        return watching && opening.isOpen();
    }

    @Override
    public boolean isArmed() {
        watchers.host.requireConfined("isArmed");
        return watching && armed;
    }

    @Override
    public Watcher unreference() {
        watchers.host.requireConfined("unreference");
        watchers.setReferenced(this, false);
        return this;
    }

    @Override
    public Watcher reference() {
        watchers.host.requireConfined("reference");
        watchers.setReferenced(this, true);
        return this;
    }

    // ------------------------------------------------------------------ for Opening and Watchers

    /// Tells the kernel. Called by [FdLifetime#attach], which makes sure that the number is still ours.
    @Override
    public void attached() {
        watchers.register(this, interest(watch));
    }

    /// Called on any thread, when the descriptor is about to give its number back.
    @Override
    public void descriptorClosing() {
        watchers.removeClosed(this);
    }

    @Override
    public boolean isWatcher() {
        return true;
    }

    boolean isIn() {
        return watching;
    }

    void setIn(boolean in) {
        watching = in;
    }

    /// Whether it keeps the loop alive.
    boolean counts() {
        return watching && armed && referenced;
    }

    void armed(boolean armed) {
        this.armed = armed;
    }

    void referenced(boolean referenced) {
        this.referenced = referenced;
    }

    static int interest(WatchSpec watch) {
        int interest = 0;
        if (watch.reader() != null) {
            interest |= Readiness.READ;
        }
        if (watch.writer() != null) {
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
