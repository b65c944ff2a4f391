package dev.gyre.cli;

import java.time.Duration;
import java.util.Locale;

/// Whether a command that has ended is started again, and after which pause.
///
/// @param when after which ends
/// @param firstPause before the first restart in a row; each further one waits twice as long
/// @param longestPause where the doubling ends
/// @param settledAfter how long it has to run for the next end to be the first in a row again
/// @param most how many restarts in a row there may be
record RestartPolicy(
        When when, Duration firstPause, Duration longestPause, Duration settledAfter, int most) {
    static final int NO_LIMIT = Integer.MAX_VALUE;

    enum When {
        NEVER,
        ON_FAILURE,
        ALWAYS;

        /// As on the command line.
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

    /// @param before how many restarts in a row there have been
    Duration pause(int before) {
        Duration pause = firstPause;
        for (int i = 0; i < before && pause.compareTo(longestPause) < 0 && !pause.isZero(); i++) {
            pause = pause.multipliedBy(2);
        }
        return pause.compareTo(longestPause) < 0 ? pause : longestPause;
    }
}
