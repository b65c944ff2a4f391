package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.os.Signal;
import dev.gyre.os.Signals;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;

/// The signals that stop a command, and their exit status.
final class StopSignals {
    private StopSignals() {}

    static Set<Signal> all() {
        return EnumSet.of(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);
    }

    /// Thrown if a signal cannot be handled.
    static final class SignalSetupException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private SignalSetupException(IllegalArgumentException cause) {
            super("Cannot handle signals: " + cause.getMessage(), cause);
        }
    }

    /// Handles them until the loop terminates.
    ///
    /// @throws Refused if a signal cannot be handled
    static void on(EventLoop loop, Consumer<? super Signal> handler) {
        on(loop, all(), handler);
    }

    /// @throws Refused if a signal cannot be handled
    static void on(EventLoop loop, Set<Signal> signals, Consumer<? super Signal> handler) {
        try {
            Signals _ = Signals.on(loop, signals, handler);
        } catch (IllegalArgumentException e) {
            throw new SignalSetupException(e);
        }
    }

    /// Returns the exit status that a shell reports for a command killed by a signal.
    static int status(Signal signal) {
        return status(signal.number());
    }

    static int status(int number) {
        return 128 + number;
    }
}
