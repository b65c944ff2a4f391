package dev.gyre.internal.os;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.internal.os.JvmSignalHandlers.Installed;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// The subscriptions to each signal. A process has one registry, as it has one handler per signal.
///
/// A signal arrives once, through the JVM's handler or the signalfd of any subscription, and is
/// dispatched to all its subscriptions. Any thread.
public final class SignalRegistry {
    private final JvmSignalHandlers handlers;

    // Shared: guarded by this. The lock is not held during delivery.
    private final Map<Signal, Entry> entries = new EnumMap<>(Signal.class);

    private static final class Entry {
        final List<SignalSubscription> subscriptions = new ArrayList<>(1);

        /// The number of subscriptions that need the handler.
        int byHandler;

        @Nullable Installed handler;
    }

    public SignalRegistry(JvmSignalHandlers handlers) {
        this.handlers = handlers;
    }

    boolean areHandlersCalled() {
        return handlers.areCalled();
    }

    /// @param byHandler whether it needs the JVM's handler, since it has no signalfd for the signal
    /// @return whether the signal stays ignored
    /// @throws IllegalArgumentException if the JVM uses the signal itself; nothing is changed
    synchronized boolean add(SignalSubscription subscription, Signal signal, boolean byHandler) {
        Entry entry = entries.computeIfAbsent(signal, absent -> new Entry());
        try {
            if (byHandler) {
                if (entry.handler == null) {
                    entry.handler = handlers.install(signal, () -> dispatch(signal));
                }
                entry.byHandler++;
            }
            entry.subscriptions.add(subscription);
        } finally {
            removeIfEmpty(signal, entry);
        }
        return byHandler && entry.handler != null && entry.handler.isIgnored();
    }

    synchronized void remove(SignalSubscription subscription, Signal signal, boolean byHandler) {
        Entry entry = entries.get(signal);
        if (entry == null || !entry.subscriptions.remove(subscription)) {
            throw new AssertionError(subscription + " is not registered for " + signal);
        }
        if (byHandler && --entry.byHandler == 0 && entry.handler != null) {
            Installed last = entry.handler;
            entry.handler = null;
            last.restore();
        }
        removeIfEmpty(signal, entry);
    }

    private void removeIfEmpty(Signal signal, Entry entry) {
        if (entry.subscriptions.isEmpty()) {
            entries.remove(signal);
        }
    }

    void dispatch(Signal signal) {
        for (SignalSubscription subscription : subscriptionsOf(signal)) {
            try {
                subscription.deliver(signal);
            } catch (RuntimeException e) {
                // The failure of one loop must not affect the others.
                LOG.log(Level.ERROR, "could not deliver " + signal + " to " + subscription, e);
            }
        }
    }

    private synchronized List<SignalSubscription> subscriptionsOf(Signal signal) {
        Entry entry = entries.get(signal);
        return entry == null ? List.of() : List.copyOf(entry.subscriptions);
    }
}
