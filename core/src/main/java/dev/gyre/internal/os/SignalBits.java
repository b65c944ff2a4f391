package dev.gyre.internal.os;

import dev.gyre.os.Signal;

import java.util.EnumSet;
import java.util.Set;

/// Signals as the kernel writes them down: bit `n - 1` for signal `n`.
final class SignalBits {
    private SignalBits() {}

    static long of(Signal signal) {
        return 1L << (signal.number() - 1);
    }

    static long of(Set<Signal> signals) {
        long bits = 0;
        for (Signal signal : signals) {
            bits |= of(signal);
        }
        return bits;
    }

    static Set<Signal> signals(long bits) {
        Set<Signal> signals = EnumSet.noneOf(Signal.class);
        for (Signal signal : Signal.values()) {
            if ((bits & of(signal)) != 0) {
                signals.add(signal);
            }
        }
        return signals;
    }
}
