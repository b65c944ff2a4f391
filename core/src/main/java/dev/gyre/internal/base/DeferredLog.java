package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.Supplier;

/// Log entries that a thread can postpone. The first entry of a process takes a tenth of a second.
/// A loop that replaces a failed one must not wait for it.
public final class DeferredLog {
    private static final ThreadLocal<@Nullable List<Runnable>> POSTPONED = new ThreadLocal<>();

    private DeferredLog() {}

    /// Logs now, or later if the caller runs in [#postponed].
    ///
    /// @param message called when the entry is written
    public static void log(Level level, Supplier<String> message) {
        List<Runnable> entries = POSTPONED.get();
        if (entries == null) {
            Log.LOG.log(level, message);
        } else {
            entries.add(() -> Log.LOG.log(level, message));
        }
    }

    /// Runs an action, and adds its entries to a list instead of writing them.
    public static void postponed(List<Runnable> entries, Runnable action) {
        POSTPONED.set(entries);
        try {
            action.run();
        } finally {
            POSTPONED.remove();
        }
    }
}
