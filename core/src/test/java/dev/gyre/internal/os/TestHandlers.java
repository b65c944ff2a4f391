package dev.gyre.internal.os;

import dev.gyre.internal.os.JvmSignalHandlers.Installed;
import dev.gyre.os.Signal;

/// The JVM's handlers as a stranger in the same process would use them.
public final class TestHandlers {
    private TestHandlers() {}

    /// A stranger's handler.
    public record Stranger(Installed installed) implements AutoCloseable {
        @Override
        public void close() {
            installed.restore();
        }
    }

    public static Stranger install(Signal signal, Runnable heard) {
        return new Stranger(new JvmSignalHandlers().install(signal, heard));
    }

    /// What the process does about the signal now: the same object as long as it stays the same.
    public static Object of(Signal signal) {
        Installed probe = new JvmSignalHandlers().install(signal, () -> {});
        probe.restore();
        return probe.previous();
    }

    /// Has the process do that about the signal, as [#of] showed it.
    public static void put(Signal signal, Object wanted) {
        Installed ours = new JvmSignalHandlers().install(signal, () -> {});
        new Installed(ours.name(), ours.handler(), wanted, false).restore();
    }

    /// The stranger's handler as [#of] shows it.
    public static Object of(Stranger stranger) {
        return stranger.installed().handler();
    }
}
