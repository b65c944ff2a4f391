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

/// Who takes which signal. There is one of these in a process, as there is one handler for a
/// signal.
///
/// A signal may come in by the JVM's handler or by the descriptor of any taker; whichever it is,
/// it comes once, and all who take the signal are told. Any thread.
public final class SignalRegistry {
    private final JvmSignalHandlers handlers;

    // Shared: guarded by this. The lock is not held while takers are told.
    private final Map<Signal, Entry> entries = new EnumMap<>(Signal.class);

    private static final class Entry {
        final List<SignalSubscription> subscriptions = new ArrayList<>(1);

        /// How many of the takers need the handler.
        int byHandler;

        @Nullable Installed handler;
    }

    public SignalRegistry(JvmSignalHandlers handlers) {
        this.handlers = handlers;
    }

    /// Whether the JVM would tell of a signal at all.
    boolean areHandlersCalled() {
        return handlers.areCalled();
    }

    /// Adds a taker.
    ///
    /// @param byHandler whether it needs the JVM's handler, or has a descriptor for the signal
    /// @return whether the signal stays ignored
    /// @throws IllegalArgumentException if the JVM does not give the signal away; nothing is
    ///     changed then
    synchronized boolean add(SignalSubscription taker, Signal signal, boolean byHandler) {
        Entry entry = entries.computeIfAbsent(signal, absent -> new Entry());
        try {
            if (byHandler) {
                if (entry.handler == null) {
                    entry.handler = handlers.install(signal, () -> dispatch(signal));
                }
                entry.byHandler++;
            }
            entry.subscriptions.add(taker);
        } finally {
            forgetIfEmpty(signal, entry);
        }
        return byHandler && entry.handler != null && entry.handler.isIgnored();
    }

    /// Takes [#add] back.
    synchronized void remove(SignalSubscription taker, Signal signal, boolean byHandler) {
        Entry entry = entries.get(signal);
        if (entry == null || !entry.subscriptions.remove(taker)) {
            throw new AssertionError(taker + " does not take " + signal);
        }
        if (byHandler && --entry.byHandler == 0 && entry.handler != null) {
            Installed last = entry.handler;
            entry.handler = null;
            last.restore();
        }
        forgetIfEmpty(signal, entry);
    }

    private void forgetIfEmpty(Signal signal, Entry entry) {
        if (entry.subscriptions.isEmpty()) {
            entries.remove(signal);
        }
    }

    /// Tells all who take the signal now.
    void dispatch(Signal signal) {
        for (SignalSubscription taker : subscriptionsOf(signal)) {
            try {
                taker.deliver(signal);
            } catch (RuntimeException e) {
                // Not even the loop that is in trouble should keep the others from hearing.
                LOG.log(Level.ERROR, taker + " could not be told of " + signal, e);
            }
        }
    }

    private synchronized List<SignalSubscription> subscriptionsOf(Signal signal) {
        Entry entry = entries.get(signal);
        return entry == null ? List.of() : List.copyOf(entry.subscriptions);
    }
}
