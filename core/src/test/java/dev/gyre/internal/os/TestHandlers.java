package dev.gyre.internal.os;

import dev.gyre.internal.os.JvmSignalHandlers.Installed;
import dev.gyre.os.Signal;

/// The JVM's handlers, as foreign code in the same process would use them.
public final class TestHandlers {
    private TestHandlers() {}

    /// A foreign handler.
    public record Stranger(Installed installed) implements AutoCloseable {
        @Override
        public void close() {
            installed.restore();
        }
    }

    public static Stranger install(Signal signal, Runnable heard) {
        return new Stranger(new JvmSignalHandlers().install(signal, heard));
    }

    /// Returns the current handler of the signal: the same object until it changes.
    public static Object of(Signal signal) {
        Installed probe = new JvmSignalHandlers().install(signal, () -> {});
        probe.restore();
        return probe.previous();
    }

    /// Installs a handler that [#of] returned.
    public static void put(Signal signal, Object wanted) {
        Installed ours = new JvmSignalHandlers().install(signal, () -> {});
        new Installed(ours.name(), ours.handler(), wanted, false).restore();
    }

    /// Returns the foreign handler as [#of] returns it.
    public static Object of(Stranger stranger) {
        return stranger.installed().handler();
    }
}
