package dev.gyre.cli;

import java.time.Duration;
import java.util.Locale;

/// Decides whether an exited command is restarted, and after which pause.
///
/// @param when which exits cause a restart
/// @param firstPause the pause before the first restart in a row, doubled for each further one
/// @param maxPause the upper limit of the pause
/// @param settledAfter a run of this length ends a row of restarts
/// @param maxRestarts the max number of restarts in a row
record RestartPolicy(
        When when, Duration firstPause, Duration maxPause, Duration settledAfter, int maxRestarts) {
    static final int NO_LIMIT = Integer.MAX_VALUE;

    enum When {
        NEVER,
        ON_FAILURE,
        ALWAYS;

        /// Returns the name used on the command line.
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    boolean wantsAnother(boolean success) {
        return switch (when) {
            case NEVER -> false;
            case ON_FAILURE -> !success;
            case ALWAYS -> true;
        };
    }

    /// @param before the number of restarts in a row so far
    Duration pause(int before) {
        Duration pause = firstPause;
        for (int i = 0; i < before && pause.compareTo(maxPause) < 0 && !pause.isZero(); i++) {
            pause = pause.multipliedBy(2);
        }
        return pause.compareTo(maxPause) < 0 ? pause : maxPause;
    }
}
