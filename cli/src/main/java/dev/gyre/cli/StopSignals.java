package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;

/// The signals by which a command is asked to end, and the exit status that tells of them.
final class StopSignals {
    private StopSignals() {}

    static Set<Signal> all() {
        return EnumSet.of(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);
    }

    /// A signal that cannot be taken, and why.
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private Refused(IllegalArgumentException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /// Takes them, until the loop ends.
    ///
    /// @throws Refused if one cannot be taken
    static void on(EventLoop loop, Consumer<? super Signal> handler) {
        on(loop, all(), handler);
    }

    /// @throws Refused if one cannot be taken
    static void on(EventLoop loop, Set<Signal> signals, Consumer<? super Signal> handler) {
        try {
            Signals _ = Signals.on(loop, signals, handler);
        } catch (IllegalArgumentException e) {
            throw new Refused(e);
        }
    }

    /// What a shell reports of a command that a signal has ended.
    static int status(Signal signal) {
        return status(signal.number());
    }

    static int status(int number) {
        return 128 + number;
    }
}
