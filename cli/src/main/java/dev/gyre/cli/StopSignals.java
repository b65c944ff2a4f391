package dev.gyre.cli;

import dev.gyre.os.Signal;

import java.util.EnumSet;
import java.util.Set;

/// The signals by which a command is asked to end, and the exit status that tells of them.
final class StopSignals {
    private StopSignals() {}

    static Set<Signal> all() {
        return EnumSet.of(Signal.SIGHUP, Signal.SIGINT, Signal.SIGTERM);
    }

    /// What a shell reports of a command that a signal has ended.
    static int status(Signal signal) {
        return status(signal.number());
    }

    static int status(int number) {
        return 128 + number;
    }
}
